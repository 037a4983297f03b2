package dev.postrider.verify;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A TCP connection to PostgreSQL that can lose exactly the acknowledgement of a commit, or go dead
 * without being closed. Thread-safe.
 */
final class PostgresWire implements AutoCloseable {
  private final int serverPort;
  private final ServerSocket listener;
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private final AtomicInteger commits = new AtomicInteger();
  private final AtomicInteger lost = new AtomicInteger();
  private final Object gate = new Object();
  private volatile IntPredicate loses = number -> false;
  private boolean dead;

  PostgresWire(int serverPort) {
    this.serverPort = serverPort;
    try {
      listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    daemon(this::accept);
  }

  /** The server through this wire. */
  PGSimpleDataSource through(String jdbcUrl) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(jdbcUrl.replace(":" + serverPort + "/", ":" + listener.getLocalPort() + "/"));
    dataSource.setSslMode("disable");
    dataSource.setGssEncMode("disable");
    return dataSource;
  }

  /** The server commits, and the connection breaks before it can say so; by the commit's number. */
  void loseCommits(IntPredicate which) {
    loses = which;
  }

  /** How many acknowledgements were lost. */
  int lost() {
    return lost.get();
  }

  /** Nothing is carried any more, in either direction, and nothing is closed. */
  void freeze() {
    synchronized (gate) {
      dead = true;
    }
  }

  /** What waited is carried. */
  void thaw() {
    synchronized (gate) {
      dead = false;
      gate.notifyAll();
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
        sockets.add(client);
        sockets.add(server);
        daemon(() -> carryRequests(client, server));
        daemon(() -> carryAnswers(client, server));
      } catch (IOException e) {
        // The server is away, or this wire is closed.
      }
    }
  }

  private void carryRequests(Socket client, Socket server) {
    try (client;
        server) {
      InputStream in = client.getInputStream();
      byte[] buffer = new byte[8192];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        whileAlive();
        server.getOutputStream().write(buffer, 0, n);
      }
    } catch (IOException e) {
      // One side is gone, so the other goes, too.
    }
  }

  /** Message by message: its type, its length including itself, its text. */
  private void carryAnswers(Socket client, Socket server) {
    try (client;
        server) {
      DataInputStream in = new DataInputStream(server.getInputStream());
      OutputStream out = client.getOutputStream();
      while (true) {
        byte type = in.readByte();
        int length = in.readInt();
        byte[] text = in.readNBytes(length - 4);
        whileAlive();
        if (type == 'C' && isCommit(text) && loses.test(commits.incrementAndGet())) {
          lost.incrementAndGet();
          return;
        }
        byte[] head = {
          type, (byte) (length >> 24), (byte) (length >> 16), (byte) (length >> 8), (byte) length
        };
        out.write(head);
        out.write(text);
      }
    } catch (IOException e) {
      // One side is gone, so the other goes, too.
    }
  }

  private static boolean isCommit(byte[] text) {
    return new String(text, StandardCharsets.US_ASCII).startsWith("COMMIT");
  }

  private void whileAlive() {
    synchronized (gate) {
      while (dead) {
        try {
          gate.wait();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "postgres-wire");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
    thaw();
  }
}

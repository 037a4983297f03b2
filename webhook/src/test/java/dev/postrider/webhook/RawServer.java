package dev.postrider.webhook;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A server that says to each connection exactly what a test wants, HTTP or not. Thread-safe. */
final class RawServer implements AutoCloseable {
  private final ServerSocket listener;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Script script;
  final AtomicInteger connections = new AtomicInteger();
  final AtomicInteger requests = new AtomicInteger();
  final Queue<String> heads = new ConcurrentLinkedQueue<>();
  final AtomicLong bytesWritten = new AtomicLong();

  /** What one connection does; it is closed afterwards. */
  @FunctionalInterface
  interface Script {
    void play(Talk talk) throws IOException;
  }

  RawServer(Script script) {
    this.script = script;
    try {
      this.listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    threads.execute(this::accept);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        int number = connections.incrementAndGet();
        threads.execute(() -> play(new Talk(socket, number)));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void play(Talk talk) {
    try (talk.socket) {
      script.play(talk);
    } catch (IOException e) {
      // The client went away, which is what many tests want it to do.
      closedByClient.countDown();
    }
  }

  /** Falls when a client goes away while it is being talked to. */
  final CountDownLatch closedByClient = new CountDownLatch(1);

  /** One connection, from the server's side. */
  final class Talk {
    final Socket socket;
    final int number;

    Talk(Socket socket, int number) {
      this.socket = socket;
      this.number = number;
    }

    /** Reads one request with its body; false at the end of the stream. */
    boolean readRequest() throws IOException {
      InputStream in = socket.getInputStream();
      StringBuilder head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        int c = in.read();
        if (c < 0) {
          return false;
        }
        head.append((char) c);
      }
      String lower = head.toString().toLowerCase(Locale.ROOT);
      int at = lower.indexOf("content-length: ") + "content-length: ".length();
      int length = Integer.parseInt(lower.substring(at, lower.indexOf("\r\n", at)).strip());
      requests.incrementAndGet();
      heads.add(head.toString());
      return in.readNBytes(length).length == length;
    }

    void write(String text) throws IOException {
      OutputStream out = socket.getOutputStream();
      out.write(text.getBytes(StandardCharsets.ISO_8859_1));
      out.flush();
      bytesWritten.addAndGet(text.length());
    }

    /** Writes it again and again until the client is gone, or the server is closed. */
    void repeat(String text, long pauseMs) throws IOException {
      while (!pause(pauseMs)) {
        write(text);
      }
    }

    /** Says nothing until the client goes away or the server is closed. */
    void hang() throws IOException {
      socket.getInputStream().transferTo(OutputStream.nullOutputStream());
      closedByClient.countDown();
    }

    /** Breaks the connection rather than closing it. */
    void reset() throws IOException {
      socket.setSoLinger(true, 0);
      socket.close();
    }
  }

  private boolean pause(long ms) {
    try {
      return closed.await(ms, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return true;
    }
  }

  int port() {
    return listener.getLocalPort();
  }

  WebhookConfig.Builder hook() {
    return WebhookConfig.to("http://127.0.0.1:" + port() + "/")
        .key(Hooks.SECRET)
        .allowNet("127.0.0.1");
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    threads.shutdownNow();
  }
}

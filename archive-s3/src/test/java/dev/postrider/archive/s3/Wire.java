package dev.postrider.archive.s3;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The way to a server, with the faults that networks and other stores have. */
final class Wire implements AutoCloseable {
  private static final Pattern LENGTH = Pattern.compile("(?im)^content-length: *(\\d+)");
  private static final Pattern EXPECT = Pattern.compile("(?im)^expect:");
  private static final int SOME_BYTES = 20_000;
  private static final String REFUSAL =
      "<?xml version=\"1.0\"?><Error><Code>NotImplemented</Code><Message>A header you provided implies"
          + " functionality that is not implemented.</Message></Error>";

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch end = new CountDownLatch(1);
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final int target;

  final List<String> heads = new CopyOnWriteArrayList<>();

  /** How many uploads are cut in their middle from now on. */
  final AtomicInteger cuts = new AtomicInteger();

  /** Whether uploads stop in their middle, and their connections stay open. */
  volatile boolean stalls;

  /** Whether a byte of each upload is changed. */
  volatile boolean damages;

  /** Which requests are refused as not implemented, by their heads. */
  volatile Predicate<String> refused = head -> false;

  /** Which header lines are dropped. */
  volatile Pattern dropped = Pattern.compile("(?!)");

  Wire(int target) throws IOException {
    this.target = target;
    threads.execute(this::accept);
  }

  String url() {
    return "http://127.0.0.1:" + listener.getLocalPort();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        sockets.add(client);
        threads.execute(() -> serve(client));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket client) {
    try (client;
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target)) {
      sockets.add(server);
      threads.execute(() -> answer(server, client));
      while (request(client, server)) {
        server.getOutputStream().flush();
      }
    } catch (IOException | InterruptedException e) {
      // either side has hung up
    }
  }

  private static void answer(Socket server, Socket client) {
    try (server;
        client) {
      server.getInputStream().transferTo(client.getOutputStream());
    } catch (IOException e) {
      // either side has hung up
    }
  }

  /** False at the end of the connection. */
  private boolean request(Socket client, Socket server) throws IOException, InterruptedException {
    InputStream in = client.getInputStream();
    String head = head(in);
    if (head.isEmpty()) {
      return false;
    }
    heads.add(head);
    Matcher found = LENGTH.matcher(head);
    long length = found.find() ? Long.parseLong(found.group(1)) : 0;
    if (refused.test(head)) {
      refuse(client, EXPECT.matcher(head).find() ? 0 : length);
      return false;
    }
    OutputStream out = server.getOutputStream();
    out.write(dropped.matcher(head).replaceAll("").getBytes(StandardCharsets.ISO_8859_1));
    return body(in, out, length);
  }

  private boolean body(InputStream in, OutputStream out, long length)
      throws IOException, InterruptedException {
    boolean damaged = damages;
    for (long sent = 0; sent < length; ) {
      byte[] bytes = in.readNBytes((int) Math.min(8192, length - sent));
      if (bytes.length == 0) {
        return false;
      }
      if (damaged && sent == 0) {
        bytes[bytes.length / 2] ^= 1;
      }
      out.write(bytes);
      sent += bytes.length;
      if (sent > SOME_BYTES && sent < length) {
        if (stalls) {
          end.await();
        } else if (cuts.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
          return false;
        }
      }
    }
    return true;
  }

  private static void refuse(Socket client, long body) throws IOException {
    client.getInputStream().skipNBytes(body);
    client
        .getOutputStream()
        .write(
            ("HTTP/1.1 501 Not Implemented\r\nContent-Type: application/xml\r\nConnection: close\r\n"
                    + "Content-Length: "
                    + REFUSAL.length()
                    + "\r\n\r\n"
                    + REFUSAL)
                .getBytes(StandardCharsets.ISO_8859_1));
  }

  private static String head(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        return "";
      }
      head.write(next);
    }
    return head.toString(StandardCharsets.ISO_8859_1);
  }

  @Override
  public void close() throws IOException {
    end.countDown();
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
    threads.shutdownNow();
  }
}

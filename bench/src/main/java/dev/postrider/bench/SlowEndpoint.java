package dev.postrider.bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * An HTTP server that answers every request after the same time, and holds many at once without a
 * thread for each. Thread-safe.
 */
final class SlowEndpoint implements AutoCloseable {
  static {
    // Otherwise its answers wait for the client's delayed acknowledgements.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  private final long delayMs;
  private final CountDownLatch left;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(2);
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);

  /**
   * @param requests after how many it has seen them all
   */
  SlowEndpoint(long delayMs, int requests) throws IOException {
    this.delayMs = delayMs;
    this.left = new CountDownLatch(requests);
    this.server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  private void handle(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
    ScheduledFuture<?> unused =
        timer.schedule(() -> answer(exchange), delayMs, TimeUnit.MILLISECONDS);
  }

  private void answer(HttpExchange exchange) {
    try {
      exchange.sendResponseHeaders(204, -1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    left.countDown();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
  }

  /** Whether it has seen them all in time. */
  boolean await(long minutes) throws InterruptedException {
    return left.await(minutes, TimeUnit.MINUTES);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
    timer.shutdownNow();
  }
}

package dev.postrider.examples.memorysync;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The memory service: {@code POST /spaces/{space}} stores a text and answers its id. Somebody
 * else's in real life, slow, and not always there. Thread-safe.
 */
final class MemoryService implements AutoCloseable {
  /** What the service does with a request; the answer is an HTTP status. */
  @FunctionalInterface
  interface Temper {
    int status(String body) throws InterruptedException;
  }

  private static final int MAX_BYTES = 1 << 20;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(16);
  private final Temper temper;
  private final AtomicInteger calls = new AtomicInteger();
  private final Map<String, String> memories = new ConcurrentHashMap<>();

  MemoryService(Temper temper) throws IOException {
    this.temper = temper;
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    server.setExecutor(threads);
    server.createContext("/spaces/", this::handle);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Requests that arrived. */
  int calls() {
    return calls.get();
  }

  /** What is stored: memory ids by the key of the request that stored them. */
  Map<String, String> memories() {
    return Map.copyOf(memories);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String key = exchange.getRequestHeaders().getFirst("idempotency-key");
      byte[] body = exchange.getRequestBody().readNBytes(MAX_BYTES + 1);
      int count = calls.incrementAndGet();
      int status =
          key == null || body.length > MAX_BYTES
              ? 400
              : temper.status(new String(body, StandardCharsets.UTF_8));
      if (status == 201 && key != null) {
        answer(exchange, status, memories.computeIfAbsent(key, k -> "mem-" + count));
      } else {
        answer(exchange, status, "");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}

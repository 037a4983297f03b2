package dev.postrider.webhook;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** A real HTTP server on a loopback address that keeps what it was sent. Thread-safe. */
final class Receiver implements AutoCloseable {
  private static final int BACKLOG = 200;
  private final String address;
  private final @Nullable SSLContext tls;
  private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
  private volatile Function<Request, Answer> behaviour = request -> Answer.of(204);
  private @Nullable HttpServer server;
  private @Nullable ExecutorService threads;
  private int port;

  /**
   * @param headers by names of any case
   * @param from where the connection came from, port included: the same for a kept connection
   */
  record Request(
      String method,
      URI uri,
      Map<String, String> headers,
      byte[] body,
      InetSocketAddress from,
      long atNanos) {
    String header(String name) {
      return headers.get(name);
    }

    String text() {
      return new String(body, StandardCharsets.UTF_8);
    }
  }

  record Answer(int status, Map<String, String> headers, String body) {
    static Answer of(int status) {
      return new Answer(status, Map.of(), "");
    }

    static Answer of(int status, String body) {
      return new Answer(status, Map.of(), body);
    }

    Answer with(String name, String value) {
      Map<String, String> more = new TreeMap<>(headers);
      more.put(name, value);
      return new Answer(status, more, body);
    }
  }

  Receiver(String address, @Nullable SSLContext tls) {
    this(address, 0, tls);
  }

  /**
   * @param port 0 for any
   */
  Receiver(String address, int port, @Nullable SSLContext tls) {
    this.address = address;
    this.port = port;
    this.tls = tls;
    start();
  }

  static Receiver plain() {
    return new Receiver("127.0.0.1", null);
  }

  /** On the port that it had before, if it ran before. */
  void start() {
    try {
      InetSocketAddress where = new InetSocketAddress(address, port);
      if (tls == null) {
        server = HttpServer.create(where, BACKLOG);
      } else {
        HttpsServer https = HttpsServer.create(where, BACKLOG);
        https.setHttpsConfigurator(new HttpsConfigurator(tls));
        server = https;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    threads = Executors.newCachedThreadPool();
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
    port = server.getAddress().getPort();
  }

  void stop() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
      exchange.getRequestHeaders().forEach((name, values) -> headers.put(name, join(values)));
      Request request =
          new Request(
              exchange.getRequestMethod(),
              exchange.getRequestURI(),
              headers,
              exchange.getRequestBody().readAllBytes(),
              exchange.getRemoteAddress(),
              System.nanoTime());
      requests.add(request);
      Answer answer = behaviour.apply(request);
      answer.headers().forEach(exchange.getResponseHeaders()::set);
      byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
      exchange.getResponseBody().write(body);
    }
  }

  private static String join(List<String> values) {
    return String.join(" | ", values);
  }

  void behave(Function<Request, Answer> value) {
    behaviour = value;
  }

  void answer(Answer value) {
    behaviour = request -> value;
  }

  List<Request> requests() {
    return List.copyOf(requests);
  }

  /** The only request that came. */
  Request request() {
    List<Request> all = requests();
    if (all.size() != 1) {
      throw new AssertionError("expected one request, got " + all.size());
    }
    return all.get(0);
  }

  int port() {
    return port;
  }

  String url() {
    return url(address);
  }

  String url(String host) {
    return (tls == null ? "http://" : "https://") + host + ":" + port + "/hooks?who=shop";
  }

  @Override
  public void close() {
    stop();
  }
}

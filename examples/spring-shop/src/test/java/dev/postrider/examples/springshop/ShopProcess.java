package dev.postrider.examples.springshop;

import static org.awaitility.Awaitility.await;

import dev.postrider.testkit.TestPostgres;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The application in a JVM of its own, to be killed. */
final class ShopProcess implements AutoCloseable {
  private static final Pattern PORT = Pattern.compile("started on port (\\d+)");

  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private final Process process;
  private final Path log;
  private final int port;

  private ShopProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
    this.port = await().atMost(Duration.ofSeconds(60)).until(this::port, found -> found > 0);
  }

  static final String CLASS_PATH =
      System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

  static ShopProcess start(TestPostgres database) throws IOException {
    return start(database, "-cp", CLASS_PATH);
  }

  /**
   * @param options of the JVM, with the class path
   */
  static ShopProcess start(TestPostgres database, String... options) throws IOException {
    List<String> command = new ArrayList<>(List.of(java(), "-Xmx192m", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of(options));
    command.addAll(
        List.of(
            ShopApplication.class.getName(),
            "--server.port=0",
            "--postrider.relay.lease=2s",
            "--postrider.relay.reap-interval=500ms"));
    Path log = Files.createTempFile("shop", ".log");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("DATABASE_URL", database.jdbcUrl());
    builder.environment().put("RABBITMQ_URI", Servers.rabbit());
    builder.redirectErrorStream(true).redirectOutput(log.toFile());
    return new ShopProcess(builder.start(), log);
  }

  static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  /** What the application wrote. */
  String log() throws IOException {
    return Files.readString(log);
  }

  private int port() throws IOException {
    Matcher found = PORT.matcher(Files.readString(log));
    if (found.find()) {
      return Integer.parseInt(found.group(1));
    }
    if (!process.isAlive()) {
      throw new IllegalStateException(Files.readString(log));
    }
    return 0;
  }

  /** Whether the order was accepted; false also if nobody answered. */
  boolean create(String id, long cents) {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:%d/orders/%s?cents=%d".formatted(port, id, cents)))
            .timeout(Duration.ofSeconds(20))
            .PUT(HttpRequest.BodyPublishers.noBody())
            .build();
    try {
      return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 201;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
  }

  /** SIGTERM, and waits for the end. */
  boolean stop() throws InterruptedException {
    process.destroy();
    return process.waitFor(40, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      Files.deleteIfExists(log);
    } catch (IOException e) {
      log.toFile().deleteOnExit();
    }
  }
}

package dev.postrider.server.stream;

import static org.awaitility.Awaitility.await;

import dev.postrider.server.Desk;
import dev.postrider.server.api.JsonText;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import tools.jackson.databind.JsonNode;

/** A client on a socket of its own. It takes nothing until it is told to read. */
final class Listener implements AutoCloseable {
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  final HttpResponse<InputStream> response;
  final List<String> lines = new CopyOnWriteArrayList<>();
  final List<JsonNode> records = new CopyOnWriteArrayList<>();
  private final Thread reader = new Thread(this::run, "listener");
  private volatile int readMax = Integer.MAX_VALUE;

  private Listener(HttpRequest request) throws IOException, InterruptedException {
    this.response = HTTP.send(request, HttpResponse.BodyHandlers.ofInputStream());
    reader.setDaemon(true);
  }

  static Listener silent(Desk desk, String token, String query, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(desk.server.url() + "/v1/streams/events" + query))
            .timeout(Duration.ofSeconds(20))
            .header("Authorization", "Bearer " + token);
    return new Listener((headers.length == 0 ? request : request.headers(headers)).build());
  }

  /** One that reads, and has heard where it starts. */
  static Listener open(Desk desk, String token, String query, String... headers) throws Exception {
    Listener listener = silent(desk, token, query, headers);
    listener.read();
    await().until(() -> !listener.lines.isEmpty() || !listener.reader.isAlive());
    return listener;
  }

  /** Reads so many lines and then hangs up. */
  Listener readMost(int count) {
    readMax = count;
    return read();
  }

  Listener read() {
    reader.start();
    return this;
  }

  private void run() {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      String line = in.readLine();
      while (line != null) {
        lines.add(line);
        if (line.startsWith("{")) {
          records.add(JsonText.read(line.getBytes(StandardCharsets.UTF_8)));
        }
        line = lines.size() < readMax ? in.readLine() : null;
      }
    } catch (IOException e) {
      // The connection ended, as it may.
    }
  }

  List<JsonNode> events() {
    return records.stream().filter(record -> record.has("event_id")).toList();
  }

  /** What the events say under this name. */
  List<String> values(String name) {
    return events().stream().map(event -> event.get(name).asString()).toList();
  }

  /** Where to resume. */
  long position() {
    return records.isEmpty() ? -1 : records.get(records.size() - 1).get("position").asLong();
  }

  Listener awaitEvents(int count) {
    await().atMost(Duration.ofSeconds(30)).until(() -> events().size() >= count);
    return this;
  }

  /** The reason in the last record, once the server has closed the connection. */
  String awaitEnd() throws InterruptedException {
    reader.join(30_000);
    JsonNode last = records.get(records.size() - 1);
    return last.has("end") ? last.get("end").asString() : "without an end: " + last;
  }

  void join() throws InterruptedException {
    reader.join(30_000);
  }

  @Override
  public void close() throws IOException {
    response.body().close();
  }
}

package dev.postrider.examples.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.server.api.JsonText;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Chromium without a window, driven by its DevTools protocol. Used by one thread. */
final class Browser implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Process process;
  private final String url;

  /**
   * @param profile an empty directory
   */
  Browser(Path profile) throws IOException {
    try {
      process =
          new ProcessBuilder(
                  "chromium",
                  "--headless=new",
                  "--no-sandbox", // it opens our own page only, and root may not have one
                  "--disable-gpu",
                  "--disable-dev-shm-usage",
                  "--no-first-run",
                  "--window-size=800,700",
                  "--remote-debugging-port=0",
                  "--user-data-dir=" + profile)
              .redirectErrorStream(true)
              .redirectOutput(profile.resolve("output").toFile())
              .start();
    } catch (IOException e) {
      throw new IOException("this test needs Chromium (Debian: apt-get install chromium)", e);
    }
    Path port = profile.resolve("DevToolsActivePort");
    await().atMost(PATIENCE).until(() -> Files.exists(port) && Files.readString(port).length() > 6);
    url = "http://127.0.0.1:" + Files.readAllLines(port).get(0);
  }

  Tab open(String address) throws Exception {
    URI uri = URI.create(url + "/json/new?" + URLEncoder.encode(address, StandardCharsets.UTF_8));
    String tab =
        ChatClient.HTTP
            .send(
                HttpRequest.newBuilder(uri).timeout(PATIENCE).PUT(BodyPublishers.noBody()).build(),
                BodyHandlers.ofString())
            .body();
    return new Tab(json(tab).get("webSocketDebuggerUrl").asString());
  }

  private static JsonNode json(String text) {
    return JsonText.read(text.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    List<ProcessHandle> all = process.descendants().toList();
    process.destroyForcibly();
    all.forEach(ProcessHandle::destroyForcibly);
    await().atMost(PATIENCE).until(() -> !process.isAlive());
  }

  /** A page. */
  static final class Tab implements WebSocket.Listener {
    private final BlockingQueue<JsonNode> answers = new LinkedBlockingQueue<>();
    private final StringBuilder partial = new StringBuilder();
    private final WebSocket socket;

    private Tab(String address) {
      socket = ChatClient.HTTP.newWebSocketBuilder().buildAsync(URI.create(address), this).join();
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
      partial.append(data);
      if (last) {
        answers.add(json(partial.toString()));
        partial.setLength(0);
      }
      from.request(1);
      return null;
    }

    private JsonNode call(String method, Map<String, Object> parameters) throws Exception {
      socket
          .sendText(JsonText.text(Map.of("id", 1, "method", method, "params", parameters)), true)
          .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      JsonNode answer = answers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (answer == null || !answer.has("result")) {
        throw new IllegalStateException(method + ": " + answer);
      }
      return answer.get("result");
    }

    /** The value of a JavaScript expression, as text. */
    String evaluate(String script) throws Exception {
      JsonNode answer = call("Runtime.evaluate", Map.of("expression", "String(" + script + ")"));
      return answer.get("result").get("value").asString();
    }

    void until(String script, String expected) {
      await()
          .atMost(PATIENCE)
          .untilAsserted(() -> assertThat(evaluate(script)).isEqualTo(expected));
    }
  }
}

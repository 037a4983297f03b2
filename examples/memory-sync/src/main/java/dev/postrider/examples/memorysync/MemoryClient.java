package dev.postrider.examples.memorysync;

import dev.postrider.message.Message;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Speaks to the memory service. Thread-safe. */
final class MemoryClient {
  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private final String url;
  private final Duration timeout;

  MemoryClient(String url, Duration timeout) {
    this.url = url;
    this.timeout = timeout;
  }

  /** Stores a note under the message's id, so that the service can tell a repetition. */
  Answer store(Message message) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + "/spaces/" + message.route().topic()))
            .timeout(timeout)
            .header("content-type", message.contentType())
            .header("idempotency-key", message.id().toString())
            .POST(HttpRequest.BodyPublishers.ofByteArray(message.payload()))
            .build();
    try {
      return answer(http.send(request, BodyHandlers.ofString()));
    } catch (IOException e) {
      return new Answer.Failed(e.getClass().getSimpleName() + ": " + e.getMessage());
    }
  }

  private static Answer answer(HttpResponse<String> response) {
    int status = response.statusCode();
    if (status == 201) {
      return new Answer.Stored(response.body());
    }
    String error = "HTTP " + status;
    boolean refused = status == 400 || status == 404 || status == 413 || status == 422;
    return refused ? new Answer.Refused(error) : new Answer.Failed(error);
  }
}

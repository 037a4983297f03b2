package dev.postrider.examples.chat;

import dev.postrider.examples.chat.ChatRooms.Room;
import dev.postrider.internal.text.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;

/** Calls a node, as a browser would. Thread-safe. */
record ChatClient(String url, String token) {
  static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();

  /** With the token left out, for logs. */
  @Override
  public String toString() {
    return "ChatClient[" + url + "]";
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(url + path))
        .timeout(Duration.ofSeconds(20))
        .header("Authorization", "Bearer " + token);
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return HTTP.send(request(path).build(), BodyHandlers.ofString());
  }

  HttpResponse<String> post(String path, String json) throws IOException, InterruptedException {
    return HTTP.send(
        request(path)
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", UUID.randomUUID().toString())
            .POST(BodyPublishers.ofString(json))
            .build(),
        BodyHandlers.ofString());
  }

  HttpResponse<String> say(Room room, String author, String text)
      throws IOException, InterruptedException {
    return post(
        "/my/projects/%s/chat/%s/message".formatted(room.project(), room.session()),
        Json.write(Map.of("author", author, "text", text)));
  }
}

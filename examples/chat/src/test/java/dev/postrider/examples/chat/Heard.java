package dev.postrider.examples.chat;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;

/** A client that keeps what it hears. */
final class Heard implements AutoCloseable {
  private final List<JsonNode> events = new CopyOnWriteArrayList<>();
  private final Follower follower;

  Heard(Supplier<ChatClient> node) {
    this.follower = Follower.start(node, events::add);
  }

  int connections() {
    return follower.connections();
  }

  List<String> ids() {
    return events.stream().map(event -> event.get("event_id").asString()).toList();
  }

  /** The ids of one session, in the order in which they were heard. */
  List<String> ids(String session) {
    return events.stream()
        .filter(event -> event.get("aggregate_id").asString().equals(session))
        .map(event -> event.get("event_id").asString())
        .toList();
  }

  List<JsonNode> awaitCount(int count) {
    await().atMost(Duration.ofSeconds(30)).until(() -> events.size() >= count);
    return events;
  }

  void awaitConnections(int count) {
    await().atMost(Duration.ofSeconds(30)).until(() -> connections() >= count);
  }

  @Override
  public void close() {
    follower.close();
  }
}

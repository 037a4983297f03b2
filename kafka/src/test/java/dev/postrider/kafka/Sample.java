package dev.postrider.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Messages, and the answers to them. */
final class Sample {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private Sample() {}

  static Message message(String key, String payload, Map<String, String> headers) {
    return message(new Route("shop", "orders"), key, payload.getBytes(UTF_8), headers);
  }

  static Message message(Route route, String key, byte[] payload, Map<String, String> headers) {
    return new Message(
        UUID.randomUUID(),
        route,
        key,
        key == null ? 0 : 7,
        null,
        "acme/west",
        "order",
        "4711",
        "created",
        Message.JSON,
        true,
        headers,
        payload,
        Instant.parse("2026-01-02T03:04:05.678Z"),
        3,
        2,
        99);
  }

  /** Sends them in one batch and returns their outcomes in order, each message answered once. */
  static List<Outcome> deliver(Destination destination, List<Message> batch) throws Exception {
    Map<UUID, BlockingQueue<Outcome>> answers = new ConcurrentHashMap<>();
    batch.forEach(message -> answers.put(message.id(), new LinkedBlockingQueue<>()));
    destination.deliver(batch, (id, outcome) -> answers.get(id).add(outcome));
    List<Outcome> outcomes = new ArrayList<>();
    for (Message message : batch) {
      Outcome outcome = answers.get(message.id()).poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (outcome == null) {
        throw new AssertionError("no answer for " + message.id());
      }
      outcomes.add(outcome);
    }
    for (BlockingQueue<Outcome> rest : answers.values()) {
      if (!rest.isEmpty()) {
        throw new AssertionError("answered more than once: " + rest);
      }
    }
    return outcomes;
  }

  static Outcome deliver(Destination destination, Message message) throws Exception {
    return deliver(destination, List.of(message)).get(0);
  }

  /** The code of an outcome, after its kind. */
  static String code(Outcome outcome) {
    if (outcome instanceof Outcome.Terminal terminal) {
      return "terminal " + terminal.code();
    }
    if (outcome instanceof Outcome.Retryable retryable) {
      return "retryable " + retryable.code();
    }
    if (outcome instanceof Outcome.Unavailable unavailable) {
      return "unavailable " + unavailable.code();
    }
    if (outcome instanceof Outcome.NotSent unsent) {
      return "not sent " + unsent.code();
    }
    return "delivered";
  }
}

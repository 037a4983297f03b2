package dev.postrider.rabbitmq;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Messages, and what a destination answers for them. */
final class Given {
  private Given() {}

  static Message message(String topic, String payload, Map<String, String> headers) {
    return message(topic, null, 0, payload, headers);
  }

  static Message keyed(String topic, String key, long sequence, String payload) {
    return message(topic, key, sequence, payload, Map.of());
  }

  private static Message message(
      String topic,
      @Nullable String key,
      long sequence,
      String payload,
      Map<String, String> headers) {
    return new Message(
        UUID.randomUUID(),
        new Route("shop", topic),
        key,
        sequence,
        null,
        "acme/north",
        "order",
        "o-1",
        "placed",
        Message.JSON,
        true,
        headers,
        payload.getBytes(StandardCharsets.UTF_8),
        Instant.parse("2025-03-04T05:06:07Z"),
        3,
        1,
        17);
  }

  static Message message(String topic) {
    return message(topic, "{\"n\": 1}", Map.of());
  }

  static List<Message> messages(String topic, int count) {
    List<Message> messages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      messages.add(message(topic, "{\"n\": " + i + "}", Map.of()));
    }
    return messages;
  }

  /** The answers, in the order of the messages; each exactly one. */
  static List<Outcome> answers(Destination destination, List<Message> messages) throws Exception {
    return sent(destination, messages).await();
  }

  static Outcome answer(Destination destination, Message message) throws Exception {
    return answers(destination, List.of(message)).get(0);
  }

  /** Hands a batch over and does not wait for its answers. */
  static Sent sent(Destination destination, List<Message> messages) {
    Sent sent = new Sent(messages);
    destination.deliver(messages, sent::answer);
    return sent;
  }

  static String code(Outcome outcome) {
    if (outcome instanceof Outcome.Retryable retryable) {
      return "retryable " + retryable.code();
    }
    if (outcome instanceof Outcome.Terminal terminal) {
      return "terminal " + terminal.code();
    }
    if (outcome instanceof Outcome.NotSent unsent) {
      return "not sent " + unsent.code();
    }
    return outcome instanceof Outcome.Unavailable gone ? "unavailable " + gone.code() : "delivered";
  }

  static List<String> codes(List<Outcome> outcomes) {
    return outcomes.stream().map(Given::code).toList();
  }

  /** The answers for a batch so far. Thread-safe. */
  static final class Sent {
    private final Map<UUID, Outcome> outcomes = new ConcurrentHashMap<>();
    private final List<Message> messages;
    private final CountDownLatch open;
    private volatile String twice;

    Sent(List<Message> messages) {
      this.messages = messages;
      this.open = new CountDownLatch(messages.size());
    }

    private void answer(UUID id, Outcome outcome) {
      if (outcomes.putIfAbsent(id, outcome) != null) {
        twice = "answered twice: " + id;
      }
      open.countDown();
    }

    int answered() {
      return outcomes.size();
    }

    List<Outcome> await() throws Exception {
      if (!open.await(60, TimeUnit.SECONDS)) {
        throw new AssertionError(open.getCount() + " of " + messages.size() + " without an answer");
      }
      if (twice != null) {
        throw new AssertionError(twice);
      }
      Map<UUID, Outcome> ordered = new LinkedHashMap<>();
      messages.forEach(message -> ordered.put(message.id(), outcomes.get(message.id())));
      return List.copyOf(ordered.values());
    }
  }
}

package dev.postrider.webhook;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What tests of webhooks need again and again. Holds no state. */
final class Hooks {
  /** 32 bytes, made up. */
  static final String SECRET = "whsec_c2lnbmluZyBrZXkgZm9yIHRlc3RzIG9ubHkgISE=";

  private Hooks() {}

  /** To a receiver on a loopback address, which is allowed explicitly. */
  static WebhookConfig.Builder to(Receiver receiver) {
    return WebhookConfig.to(receiver.url()).key(SECRET).allowNet("127.0.0.0/8");
  }

  /** By the name in the certificate, which leads to the receiver. */
  static WebhookConfig.Builder toHost(Receiver receiver) {
    return WebhookConfig.to(receiver.url(Certificate.HOST))
        .key(SECRET)
        .lookup(host -> InetAddress.getAllByName("127.0.0.1"))
        .sslContext(Certificate.valid().client())
        .allowNet("127.0.0.1");
  }

  static WebhookDestination open(WebhookConfig.Builder builder) {
    return new WebhookDestination(builder.build());
  }

  static Message message(String payload) {
    return message(payload, Map.of());
  }

  static Message message(String payload, Map<String, String> headers) {
    return message(UUID.randomUUID(), 1, payload, headers);
  }

  static Message message(UUID id, int attempt, String payload, Map<String, String> headers) {
    return new Message(
        id,
        new Route("shop", "orders"),
        "order-7",
        3,
        null,
        "acme/north",
        "order",
        "7",
        "order.placed",
        Message.JSON,
        true,
        headers,
        payload.getBytes(StandardCharsets.UTF_8),
        Instant.parse("2026-11-16T10:00:00Z"),
        attempt,
        1,
        99);
  }

  static CompletableFuture<Outcome> start(Destination destination, Message message) {
    CompletableFuture<Outcome> answer = new CompletableFuture<>();
    destination.deliver(List.of(message), (id, outcome) -> answer.complete(outcome));
    return answer;
  }

  static Outcome send(Destination destination, Message message) {
    try {
      return start(destination, message).get(30, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new AssertionError("no answer", e);
    }
  }

  static Outcome send(WebhookConfig.Builder builder) {
    try (WebhookDestination destination = open(builder)) {
      return send(destination, message("{}"));
    }
  }

  /** The kind and code of an outcome, such as {@code retryable timeout}. */
  static String kind(Outcome outcome) {
    if (outcome instanceof Outcome.Retryable retryable) {
      return "retryable " + retryable.code();
    }
    if (outcome instanceof Outcome.Terminal terminal) {
      return "terminal " + terminal.code();
    }
    return outcome instanceof Outcome.Unavailable away ? "unavailable " + away.code() : "delivered";
  }

  static String error(Outcome outcome) {
    if (outcome instanceof Outcome.Retryable retryable) {
      return retryable.error();
    }
    if (outcome instanceof Outcome.Terminal terminal) {
      return terminal.error();
    }
    return outcome instanceof Outcome.Unavailable away ? away.error() : "";
  }
}

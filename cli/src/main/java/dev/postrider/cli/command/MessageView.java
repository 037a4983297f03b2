package dev.postrider.cli.command;

import dev.postrider.cli.output.Colour;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.JsonLine;
import dev.postrider.cli.output.Screen;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.deadletter.DeadLetter;
import dev.postrider.message.MessageState;
import dev.postrider.message.Route;
import dev.postrider.operations.AttemptRecord;
import dev.postrider.operations.DeliveryStatus;
import dev.postrider.operations.MessageStatus;
import dev.postrider.operations.StoredMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How messages, attempts and dead letters look, in JSON and in text. */
final class MessageView {
  private MessageView() {}

  /** The name that people use: default for the one without a name. */
  static String subscription(Route route) {
    return subscription(route.subscription());
  }

  private static String subscription(String name) {
    return name.isEmpty() ? "default" : name;
  }

  /** The name, or null for the default subscription. */
  static @Nullable String named(Route route) {
    return route.subscription().isEmpty() ? null : route.subscription();
  }

  static Map<String, Object> json(MessageStatus message) {
    return new Fields()
        .with("id", message.id())
        .with("namespace", message.route().namespace())
        .with("topic", message.route().topic())
        .with("state", message.state())
        .with("tenant", message.tenant())
        .with("aggregate_type", message.aggregateType())
        .with("aggregate_id", message.aggregateId())
        .with("event_type", message.eventType())
        .with("key", message.key())
        .with("sequence", message.sequence())
        .with("dedupe_key", message.dedupeKey())
        .with("attempts", message.attempts())
        .with("delivery", message.delivery())
        .with("next_attempt_at", message.nextAttemptAt())
        .with("locked_by", message.lockedBy())
        .with("locked_until", message.lockedUntil())
        .with("last_code", message.lastCode())
        .with("last_error", message.lastError())
        .with("created_at", message.createdAt())
        .with("updated_at", message.updatedAt())
        .map();
  }

  private static Map<String, Object> json(DeliveryStatus delivery, List<String> destinations) {
    return new Fields()
        .with("subscription", delivery.subscription())
        .with("destinations", destinations)
        .with("state", delivery.state())
        .with("delivery", delivery.delivery())
        .with("attempts", delivery.attempts())
        .with("next_attempt_at", delivery.nextAttemptAt())
        .with("locked_by", delivery.lockedBy())
        .with("locked_until", delivery.lockedUntil())
        .with("last_code", delivery.lastCode())
        .with("last_error", delivery.lastError())
        .with("updated_at", delivery.updatedAt())
        .map();
  }

  static Map<String, Object> json(AttemptRecord attempt) {
    return new Fields()
        .with("delivery", attempt.delivery())
        .with("no", attempt.no())
        .with("state", attempt.state())
        .with("claimed_at", attempt.claimedAt())
        .with("finished_at", attempt.finishedAt())
        .with("latency_ms", attempt.latencyMs())
        .with("worker", attempt.worker())
        .with("code", attempt.code())
        .with("error", attempt.error())
        .with("reference", attempt.reference())
        .with("subscription", attempt.subscription())
        .map();
  }

  static Map<String, Object> json(DeadLetter dead) {
    return new Fields()
        .with("id", dead.id())
        .with("namespace", dead.route().namespace())
        .with("topic", dead.route().topic())
        .with("subscription", dead.route().subscription())
        .with("tenant", dead.tenant())
        .with("aggregate_type", dead.aggregateType())
        .with("aggregate_id", dead.aggregateId())
        .with("event_type", dead.eventType())
        .with("key", dead.key())
        .with("sequence", dead.sequence())
        .with("attempts", dead.attempts())
        .with("delivery", dead.delivery())
        .with("blocking", dead.blocking())
        .with("died_at", dead.diedAt())
        .with("code", dead.code())
        .with("error", dead.error())
        .with("discard_reason", dead.discardReason())
        .map();
  }

  /**
   * One message with all there is to it.
   *
   * @param deliveries one for each subscription
   * @param destinations where living relays send it, for each subscription and the default one
   */
  record Details(
      StoredMessage message,
      List<DeliveryStatus> deliveries,
      List<AttemptRecord> attempts,
      Map<String, List<String>> destinations) {
    List<String> destinations(String subscription) {
      return destinations.getOrDefault(subscription, List.of());
    }

    /** Whether it goes to others than the default subscription. */
    boolean named() {
      return deliveries.stream().anyMatch(delivery -> !delivery.subscription().isEmpty());
    }
  }

  static Map<String, Object> json(Details details, boolean payload) {
    StoredMessage message = details.message();
    Map<String, Object> all = json(message.status());
    all.put("destinations", details.destinations(""));
    all.put("content_type", message.contentType());
    all.put("headers", message.headers());
    all.put("payload_bytes", message.payload().length);
    if (payload) {
      all.put("payload", JsonLine.payload(message.json(), message.payload()));
    }
    all.put(
        "deliveries",
        details.deliveries().stream()
            .map(each -> json(each, details.destinations(each.subscription())))
            .toList());
    all.put("history", details.attempts().stream().map(MessageView::json).toList());
    return all;
  }

  static @Nullable Colour colour(MessageState state) {
    return switch (state) {
      case DELIVERED -> Colour.GOOD;
      case DEAD -> Colour.BAD;
      case PENDING, PROCESSING -> null;
    };
  }

  static void print(Screen screen, Details details, boolean payload) {
    StoredMessage message = details.message();
    List<AttemptRecord> attempts = details.attempts();
    MessageStatus status = message.status();
    @Nullable Colour colour = colour(status.state());
    String state = Words.lower(status.state());
    line(screen, "id", status.id());
    line(screen, "topic", status.route());
    if (!details.named()) {
      line(screen, "destination", String.join(", ", details.destinations("")));
    }
    line(screen, "state", colour == null ? state : screen.paint(colour, state));
    line(screen, "key", status.key() == null ? null : status.key() + ", " + status.sequence());
    line(screen, "tenant", status.tenant());
    line(
        screen,
        "aggregate",
        status.aggregateType() == null
            ? null
            : status.aggregateType() + " " + status.aggregateId());
    line(screen, "event type", status.eventType());
    line(screen, "dedupe key", status.dedupeKey());
    line(screen, "created", Words.time(status.createdAt()));
    if (!details.named()) {
      line(screen, "next try", Words.time(status.nextAttemptAt()));
      line(screen, "held by", status.lockedBy());
      line(screen, "held until", Words.time(status.lockedUntil()));
    }
    message.headers().forEach((name, value) -> line(screen, "header", name + ": " + value));
    line(screen, "payload", message.payload().length + " bytes, " + message.contentType());
    if (details.named()) {
      screen.line("");
      screen.table(deliveries(screen, details));
    }
    if (!attempts.isEmpty()) {
      screen.line("");
      screen.table(table(attempts));
    }
    if (payload) {
      screen.line("");
      Object body = JsonLine.payload(message.json(), message.payload());
      screen.text(body instanceof String text ? text : JsonLine.of(body));
    }
  }

  private static void line(Screen screen, String name, @Nullable Object value) {
    if (value != null && !value.toString().isEmpty()) {
      screen.line("%-11s ".formatted(name), value);
    }
  }

  private static Table deliveries(Screen screen, Details details) {
    Table table =
        new Table(
                "subscription",
                "state",
                "destination",
                "tries",
                "next try",
                "held by",
                "code",
                "error")
            .optional("held by", "destination");
    for (DeliveryStatus each : details.deliveries()) {
      @Nullable Colour colour = colour(each.state());
      String state = Words.lower(each.state());
      table.row(
          subscription(each.subscription()),
          colour == null ? state : screen.paint(colour, state),
          String.join(", ", details.destinations(each.subscription())),
          each.attempts(),
          Words.time(each.nextAttemptAt()),
          each.lockedBy(),
          each.lastCode(),
          each.lastError());
    }
    return table;
  }

  private static Table table(List<AttemptRecord> attempts) {
    boolean named = attempts.stream().anyMatch(attempt -> !attempt.subscription().isEmpty());
    List<String> columns =
        new ArrayList<>(
            List.of(
                "delivery",
                "try",
                "outcome",
                "finished",
                "ms",
                "worker",
                "code",
                "reference",
                "error"));
    if (named) {
      columns.add(0, "subscription");
    }
    Table table = new Table(columns.toArray(String[]::new)).optional("worker", "reference");
    for (AttemptRecord attempt : attempts) {
      List<@Nullable Object> cells = new ArrayList<>();
      if (named) {
        cells.add(subscription(attempt.subscription()));
      }
      cells.add(attempt.delivery());
      cells.add(attempt.no());
      cells.add(Words.lower(attempt.state()));
      cells.add(Words.time(attempt.finishedAt()));
      cells.add(attempt.latencyMs());
      cells.add(attempt.worker());
      cells.add(attempt.code());
      cells.add(attempt.reference());
      cells.add(attempt.error());
      table.row(cells.toArray());
    }
    return table;
  }
}

package dev.postrider.cli.command;

import dev.postrider.cli.output.Colour;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.JsonLine;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Terminal;
import dev.postrider.cli.output.Words;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.monitor.Attempt;
import dev.postrider.internal.monitor.Delivery;
import dev.postrider.internal.monitor.DeliveryTail;
import dev.postrider.internal.monitor.Sent;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Follows what relays did. */
@Command(
    name = "tail",
    description = "Follow messages as they are delivered, retried or dead. Ctrl-C ends it.",
    footer = {"  ./postrider tail --payload", "  ./postrider tail --topic orders --json"})
final class TailCommand extends PostriderCommand {
  private static final Duration EVERY = Duration.ofMillis(300);
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS").withZone(ZoneOffset.UTC);

  /** How many lines of a terminal a payload may fill. */
  private static final int PAYLOAD_LINES = 5;

  private Table table =
      new Table("time", "outcome", "topic", "key", "id", "ms", "more", "payload")
          .headless()
          .optional("ms", "time", "more", "key");

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "TEXT",
      description = "Only of this namespace.")
  @Nullable String namespace;

  @Option(
      names = {"-t", "--topic"},
      paramLabel = "TEXT",
      description = "Only of this topic.")
  @Nullable String topic;

  @Option(
      names = "--subscription",
      paramLabel = "TEXT",
      description = "Only this subscription; default is the one without a name.")
  @Nullable String subscription;

  @Option(
      names = {"-k", "--key"},
      paramLabel = "TEXT",
      description = "Only of this key.")
  @Nullable String key;

  @Option(names = "--payload", description = "Show payloads too.")
  boolean payload;

  @Option(
      names = "--last",
      paramLabel = "N",
      description = "Start with the last N, up to 1000; 10 by default.")
  int last = 10;

  @Option(names = "--count", paramLabel = "N", description = "End after so many.")
  @Nullable Integer count;

  @Option(
      names = "--for",
      paramLabel = "TIME",
      description = "End after this time, for example 30s.")
  @Nullable String time;

  @Override
  int run(Context context) throws Exception {
    if (last < 0 || last > 1000) {
      throw usage("--last: expected 0 to 1000, got " + last);
    }
    long end =
        time == null
            ? Long.MAX_VALUE
            : System.nanoTime() + Options.duration(this, "--for", time).toNanos();
    StopSignal stop = StopSignal.install(Duration.ofSeconds(5));
    DeliveryTail tail = new DeliveryTail(payload);
    try (Database.Session session = new Database(context.dataSource(), context.schema()).open()) {
      List<Delivery> first = wanted(tail.next(session));
      long left = count == null ? Long.MAX_VALUE : count;
      int start = first.size() - (int) Math.min(last, Math.min(left, first.size()));
      left -= print(context, first.subList(start, first.size()), left);
      while (left > 0 && !screen().gone() && System.nanoTime() < end && !stop.await(EVERY)) {
        List<Delivery> next = wanted(tail.next(session));
        if (tail.passedOver()) {
          screen().note("… too many to show, some were passed over");
        }
        left -= print(context, next, left);
      }
    }
    return ExitCode.OK;
  }

  private List<Delivery> wanted(List<Delivery> all) {
    return all.stream()
        .filter(d -> namespace == null || namespace.equals(d.message().route().namespace()))
        .filter(d -> topic == null || topic.equals(d.message().route().topic()))
        .filter(
            d -> subscription == null || subscription.equals(MessageView.subscription(d.route())))
        .filter(d -> key == null || key.equals(d.message().key()))
        .toList();
  }

  private int print(Context context, List<Delivery> deliveries, long most) {
    List<Delivery> shown = deliveries.subList(0, (int) Math.min(most, deliveries.size()));
    if (context.json()) {
      shown.forEach(this::json);
      return shown.size();
    }
    for (Delivery delivery : shown) {
      row(delivery);
      @Nullable String text = text(delivery.message());
      if (text != null && screen().terminal().columns() != Terminal.ENDLESS) {
        flush();
        screen().line("  " + Words.cut(text, PAYLOAD_LINES * screen().terminal().columns()));
      }
    }
    flush();
    return shown.size();
  }

  private void flush() {
    screen().rows(table);
    table = table.next();
  }

  private void row(Delivery delivery) {
    Attempt attempt = delivery.attempt();
    Sent message = delivery.message();
    List<String> more = new ArrayList<>();
    if (attempt.no() > 1 || attempt.delivery() > 1) {
      String again = attempt.delivery() > 1 ? " of delivery " + attempt.delivery() : "";
      more.add("try " + attempt.no() + again);
    }
    if (attempt.code() != null) {
      more.add(attempt.code());
    }
    table.row(
        TIME.format(attempt.finishedAt()),
        screen().paint(colour(attempt), outcome(attempt)),
        delivery.route(),
        message.key() == null ? "" : message.key() + '#' + message.sequence(),
        screen().paint(Colour.FAINT, message.id().toString()),
        attempt.latencyMs() == null ? "" : attempt.latencyMs() + " ms",
        String.join("  ", more),
        screen().terminal().columns() == Terminal.ENDLESS ? text(message) : null);
  }

  /** The payload on one line; on a terminal it has a line of its own. */
  private static @Nullable String text(Sent message) {
    if (message.payload() == null) {
      return null;
    }
    Object body = JsonLine.payload(message.json(), message.payload());
    return body instanceof String text ? text : JsonLine.of(body);
  }

  private void json(Delivery delivery) {
    Attempt attempt = delivery.attempt();
    Sent message = delivery.message();
    Fields fields =
        new Fields()
            .with("at", attempt.finishedAt())
            .with("outcome", outcome(attempt))
            .with("id", message.id())
            .with("namespace", message.route().namespace())
            .with("topic", message.route().topic())
            .with("subscription", MessageView.named(delivery.route()))
            .with("key", message.key())
            .with("sequence", message.sequence())
            .with("event_type", message.eventType())
            .with("delivery", attempt.delivery())
            .with("attempt", attempt.no())
            .with("latency_ms", attempt.latencyMs())
            .with("code", attempt.code());
    if (message.payload() != null) {
      fields.with("payload", JsonLine.payload(message.json(), message.payload()));
    }
    screen().json(fields.map());
  }

  private static String outcome(Attempt attempt) {
    return switch (attempt.state()) {
      case DISPATCHED -> "delivered";
      case RETRYABLE -> "retry";
      case FAILED -> "dead";
      case ZOMBIE_REQUEUE -> "requeued";
      case CONFLICT -> "conflict";
      case DISPATCHING -> "running";
    };
  }

  private static Colour colour(Attempt attempt) {
    return switch (attempt.state()) {
      case DISPATCHED -> Colour.GOOD;
      case FAILED -> Colour.BAD;
      default -> Colour.NOTE;
    };
  }
}

package dev.postrider.cli.command;

import dev.postrider.cli.output.Colour;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.JsonText;
import dev.postrider.cli.output.Words;
import dev.postrider.cli.tail.Attempt;
import dev.postrider.cli.tail.Delivery;
import dev.postrider.cli.tail.DeliveryTail;
import dev.postrider.cli.tail.Sent;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Follows what relays did. */
@Command(
    name = "tail",
    description = "Follow what becomes of messages: delivered, tried again, dead. Ctrl-C ends it.",
    footer = {"  ./postrider tail --payload", "  ./postrider tail --topic orders --json"})
final class TailCommand extends PostriderCommand {
  private static final Duration EVERY = Duration.ofMillis(300);
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS").withZone(ZoneOffset.UTC);

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
      names = {"-k", "--key"},
      paramLabel = "TEXT",
      description = "Only of this key.")
  @Nullable String key;

  @Option(names = "--payload", description = "Show payloads too.")
  boolean payload;

  @Option(
      names = "--last",
      paramLabel = "N",
      description = "Start with the last N, up to 1000; 10.")
  int last = 10;

  @Option(names = "--count", paramLabel = "N", description = "End after so many.")
  @Nullable Integer count;

  @Option(names = "--for", paramLabel = "TIME", description = "End after this time, such as 30s.")
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
    try (DeliveryTail tail = new DeliveryTail(context.dataSource(), context.schema(), payload)) {
      List<Delivery> first = wanted(tail.next());
      long left = count == null ? Long.MAX_VALUE : count;
      int start = first.size() - (int) Math.min(last, Math.min(left, first.size()));
      left -= print(context, first.subList(start, first.size()), left);
      while (left > 0 && !screen().gone() && System.nanoTime() < end && !stop.await(EVERY)) {
        List<Delivery> next = wanted(tail.next());
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
        .filter(d -> key == null || key.equals(d.message().key()))
        .toList();
  }

  private int print(Context context, List<Delivery> deliveries, long most) {
    int shown = 0;
    for (Delivery delivery : deliveries) {
      if (shown == most) {
        break;
      }
      shown++;
      if (context.json()) {
        json(delivery);
      } else {
        line(delivery);
      }
    }
    return shown;
  }

  private void line(Delivery delivery) {
    Attempt attempt = delivery.attempt();
    Sent message = delivery.message();
    StringBuilder rest = new StringBuilder();
    if (attempt.latencyMs() != null) {
      rest.append("  ").append(attempt.latencyMs()).append(" ms");
    }
    if (attempt.no() > 1 || attempt.delivery() > 1) {
      rest.append("  try ").append(attempt.no());
      rest.append(attempt.delivery() > 1 ? " of delivery " + attempt.delivery() : "");
    }
    if (attempt.code() != null) {
      rest.append("  ").append(attempt.code());
    }
    if (message.payload() != null) {
      Object body = JsonText.payload(message.json(), message.payload());
      rest.append("  ").append(Words.cut(body instanceof String s ? s : JsonText.of(body), 200));
    }
    screen()
        .line(
            TIME.format(attempt.finishedAt()) + "  ",
            screen().paint(colour(attempt), "%-9s".formatted(outcome(attempt))),
            "  " + message.route(),
            message.key() == null ? "" : "  " + message.key() + '#' + message.sequence(),
            "  ",
            screen().paint(Colour.FAINT, message.id().toString()),
            rest);
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
            .with("key", message.key())
            .with("sequence", message.sequence())
            .with("event_type", message.eventType())
            .with("delivery", attempt.delivery())
            .with("attempt", attempt.no())
            .with("latency_ms", attempt.latencyMs())
            .with("code", attempt.code());
    if (message.payload() != null) {
      fields.with("payload", JsonText.payload(message.json(), message.payload()));
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

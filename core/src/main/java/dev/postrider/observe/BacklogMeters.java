package dev.postrider.observe;

import dev.postrider.observe.Backlog.Topic;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Gauges over the last backlog that was read, in a Micrometer registry; no number at all before the
 * first. When reads fail the last numbers stay, and their age grows. For processes that run a
 * {@link BacklogSampler}. Thread-safe.
 */
public final class BacklogMeters {
  private static final int TOPICS_MOST = 100;

  private record Shown(Backlog backlog, long atNanos) {}

  private final MultiGauge pending;
  private final MultiGauge oldest;
  private final MultiGauge dead;
  private volatile @Nullable Shown shown;

  public BacklogMeters(MeterRegistry registry) {
    gauge(
        registry,
        "outbox.pending.depth",
        "Messages that are neither delivered, dead nor claimed",
        Backlog::pending);
    gauge(
        registry,
        "outbox.pending.estimated",
        "1 if the pending depth is an estimate",
        b -> b.pendingEstimated() ? 1 : 0);
    gauge(
        registry,
        "outbox.dead.depth",
        "Dead messages that no operator has resolved",
        Backlog::dead);
    gauge(
        registry,
        "outbox.dead.estimated",
        "1 if the dead depth is an estimate",
        b -> b.deadEstimated() ? 1 : 0);
    gauge(registry, "outbox.dispatching", "Messages under a lease", Backlog::processing);
    gauge(registry, "outbox.stuck.dispatching", "Messages whose lease is over", Backlog::stuck);
    gauge(
        registry,
        "outbox.blocked.keys",
        "Keys that wait for an operator behind a dead message",
        Backlog::blockedKeys);
    seconds(
        registry,
        "outbox.oldest.pending.age",
        "How long the oldest message that is due has been waiting",
        s -> seconds(s.backlog().oldestAge()));
    seconds(
        registry,
        "outbox.backlog.age",
        "How long ago the backlog was read",
        s -> (System.nanoTime() - s.atNanos()) / 1e9);
    this.pending =
        MultiGauge.builder("outbox.topic.pending.depth")
            .description("Pending messages of a topic")
            .register(registry);
    this.oldest =
        MultiGauge.builder("outbox.topic.oldest.pending.age")
            .description("How long the oldest message of a topic that is due has been waiting")
            .baseUnit("seconds")
            .register(registry);
    this.dead =
        MultiGauge.builder("outbox.topic.dead.depth")
            .description("Dead messages of a topic")
            .register(registry);
  }

  private void gauge(
      MeterRegistry registry, String name, String description, ToDoubleFunction<Backlog> value) {
    Gauge.builder(name, () -> read(s -> value.applyAsDouble(s.backlog())))
        .description(description)
        .register(registry);
  }

  private void seconds(
      MeterRegistry registry, String name, String description, ToDoubleFunction<Shown> value) {
    Gauge.builder(name, () -> read(value))
        .description(description)
        .baseUnit("seconds")
        .register(registry);
  }

  private double read(ToDoubleFunction<Shown> value) {
    Shown now = shown;
    return now == null ? Double.NaN : value.applyAsDouble(now);
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / 1000.0;
  }

  /** Shows what was read from the database; give it to a {@link BacklogSampler}. */
  public void show(Backlog backlog) {
    shown = new Shown(backlog, System.nanoTime());
    // The topics that need looking at, should there be more than a dashboard can bear.
    List<Topic> topics =
        backlog.topics().stream()
            .sorted(Comparator.comparing(Topic::oldestAge).thenComparing(Topic::dead).reversed())
            .limit(TOPICS_MOST)
            .toList();
    rows(pending, topics, Topic::pending);
    rows(oldest, topics, topic -> seconds(topic.oldestAge()));
    rows(dead, topics, Topic::dead);
  }

  private static void rows(MultiGauge gauge, List<Topic> topics, ToDoubleFunction<Topic> value) {
    gauge.register(
        topics.stream()
            .map(
                topic ->
                    MultiGauge.Row.of(
                        Tags.of(
                            "namespace",
                            topic.route().namespace(),
                            "topic",
                            topic.route().topic(),
                            "subscription",
                            topic.route().subscription()),
                        value.applyAsDouble(topic)))
            .toList(),
        true);
  }
}

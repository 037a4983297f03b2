package dev.postrider.observe;

import dev.postrider.message.Settlement;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.stream.Stream;

/** The meters of one destination, looked up once and kept. Thread-safe. */
final class DestinationMeters {
  /** Fit for a call within the process as well as for a rail that takes its whole timeout. */
  static final Duration[] BUCKETS =
      Stream.of(1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000)
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final MeterRegistry registry;
  private final String name;
  private final Labels labels;
  private final Map<String, SubscriptionMeters> subscriptions = new ConcurrentHashMap<>();
  private final List<IntSupplier> inFlight = new CopyOnWriteArrayList<>();
  private final Timer succeeded;
  private final Timer failed;
  private final Counter violations;
  private final AtomicInteger openTargets = new AtomicInteger();
  private volatile int breaker;

  /** Values that are chosen elsewhere, of which only so many become series. */
  record Labels(TagValues eventTypes, TagValues subscriptions) {
    Labels() {
      this(new TagValues(), new TagValues());
    }
  }

  DestinationMeters(MeterRegistry registry, String name, Labels labels) {
    this.registry = registry;
    this.name = name;
    this.labels = labels;
    this.succeeded = latency("success");
    this.failed = latency("failed");
    this.violations =
        Counter.builder("outbox.contract.violations")
            .description("Answers of a destination that break its contract")
            .tag("destination", name)
            .register(registry);
    Gauge.builder("outbox.breaker.state", this, meters -> meters.breaker)
        .description("0 closed, 1 half open, 2 open")
        .tag("destination", name)
        .strongReference(true)
        .register(registry);
    Gauge.builder("outbox.targets.open", openTargets, AtomicInteger::get)
        .description("Targets whose breaker is open")
        .tag("destination", name)
        .strongReference(true)
        .register(registry);
    Gauge.builder("outbox.in.flight", this, DestinationMeters::inFlight)
        .description("Messages claimed and not yet settled")
        .tag("destination", name)
        .strongReference(true)
        .register(registry);
    breakerChanges("open");
    subscription("");
  }

  private Timer latency(String outcome) {
    return Timer.builder("outbox.publish.latency")
        .description("From handing a message over to its answer")
        .tags("destination", name, "outcome", outcome)
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }

  private SubscriptionMeters subscription(String subscription) {
    String tag = subscription.isEmpty() ? "" : labels.subscriptions().tag(subscription);
    SubscriptionMeters known = subscriptions.get(tag);
    return known != null
        ? known
        : subscriptions.computeIfAbsent(
            tag, t -> new SubscriptionMeters(registry, name, t, labels.eventTypes()));
  }

  private SubscriptionMeters subscription(Settlement settlement) {
    return subscription(settlement.message().route().subscription());
  }

  private Counter breakerChanges(String state) {
    return Counter.builder("outbox.breaker.changes")
        .description("Changes of a destination's breaker")
        .tags("destination", name, "state", state)
        .register(registry);
  }

  void opened(IntSupplier supplier) {
    inFlight.add(supplier);
  }

  void closed(IntSupplier supplier) {
    inFlight.remove(supplier);
  }

  private int inFlight() {
    return inFlight.stream().mapToInt(IntSupplier::getAsInt).sum();
  }

  void settled(Settlement settlement) {
    SubscriptionMeters counters = subscription(settlement);
    counters.settled(settlement);
    if (settlement.decision() == Settlement.Decision.DELIVERED) {
      counters.succeeded(settlement);
      succeeded.record(Duration.ofMillis(settlement.latencyMs()));
    } else if (isFailure(settlement)) {
      counters.failed(settlement);
      failed.record(Duration.ofMillis(settlement.latencyMs()));
    }
  }

  /** What was released or deferred with a code was sent: the destination was away, or a probe. */
  private static boolean isFailure(Settlement settlement) {
    return switch (settlement.decision()) {
      case RELEASED, DEFERRED -> settlement.code() != null;
      default -> true;
    };
  }

  void conflict(Settlement settlement) {
    subscription(settlement).conflict();
  }

  void violation() {
    violations.increment();
  }

  void targetBreaker(String state) {
    openTargets.addAndGet(state.equals("open") ? 1 : -1);
  }

  void breaker(String state) {
    breaker =
        switch (state) {
          case "closed" -> 0;
          case "half_open" -> 1;
          default -> 2;
        };
    breakerChanges(state).increment();
  }
}

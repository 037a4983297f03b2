package dev.postrider.observe;

import dev.postrider.message.AttemptState;
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
  private final EventTypes eventTypes;
  private final Map<String, Published> published = new ConcurrentHashMap<>();
  private final List<IntSupplier> inFlight = new CopyOnWriteArrayList<>();
  private final Timer succeeded;
  private final Timer failed;
  private final Counter dispatched;
  private final Counter retryable;
  private final Counter dead;
  private final Counter conflict;
  private final Counter released;
  private final Counter deferred;
  private final Counter violations;
  private final AtomicInteger openTargets = new AtomicInteger();
  private volatile int breaker;

  /** Successes and failures of one event type. */
  private record Published(Counter succeeded, Counter failed) {}

  DestinationMeters(MeterRegistry registry, String name, EventTypes eventTypes) {
    this.registry = registry;
    this.name = name;
    this.eventTypes = eventTypes;
    this.succeeded = latency("success");
    this.failed = latency("failed");
    this.dispatched = attempts(AttemptState.DISPATCHED.name());
    this.retryable = attempts(AttemptState.RETRYABLE.name());
    this.dead = attempts(AttemptState.FAILED.name());
    this.conflict = attempts(AttemptState.CONFLICT.name());
    this.released = attempts("RELEASED");
    this.deferred = attempts("DEFERRED");
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
  }

  private Timer latency(String outcome) {
    return Timer.builder("outbox.publish.latency")
        .description("From handing a message over to its answer")
        .tags("destination", name, "outcome", outcome)
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }

  private Counter attempts(String state) {
    return attempts(registry, name, state);
  }

  static Counter attempts(MeterRegistry registry, String destination, String state) {
    return Counter.builder("outbox.attempts")
        .description("Attempts by what they came to")
        .tags("destination", destination, "state", state)
        .register(registry);
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
    switch (settlement.decision()) {
      case DELIVERED -> {
        dispatched.increment();
        published(settlement).succeeded().increment();
        succeeded.record(Duration.ofMillis(settlement.latencyMs()));
      }
      case RETRY -> {
        retryable.increment();
        failed(settlement);
      }
      case DEAD, DEAD_BLOCKING -> {
        dead.increment();
        failed(settlement);
      }
      case RELEASED -> {
        released.increment();
        if (settlement.code() != null) {
          failed(settlement); // it was sent, and the destination as a whole was not there
        }
      }
      case DEFERRED -> {
        deferred.increment();
        if (settlement.code() != null) {
          failed(settlement); // a probe
        }
      }
    }
  }

  private void failed(Settlement settlement) {
    published(settlement).failed().increment();
    failed.record(Duration.ofMillis(settlement.latencyMs()));
  }

  private Published published(Settlement settlement) {
    String type = eventTypes.tag(settlement.message().eventType());
    Published known = published.get(type);
    return known != null ? known : published.computeIfAbsent(type, this::published);
  }

  private Published published(String type) {
    return new Published(
        published("outbox.publish.success", "Messages delivered", type),
        published("outbox.publish.failed", "Attempts that failed", type));
  }

  private Counter published(String meter, String description, String type) {
    return Counter.builder(meter)
        .description(description)
        .tags("destination", name, "event_type", type)
        .register(registry);
  }

  void conflict() {
    conflict.increment();
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

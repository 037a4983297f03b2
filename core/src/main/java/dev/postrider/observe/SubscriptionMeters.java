package dev.postrider.observe;

import dev.postrider.message.AttemptState;
import dev.postrider.message.Settlement;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The counters of what a destination gets for the subscriptions of one name, looked up once and
 * kept. Thread-safe.
 */
final class SubscriptionMeters {
  private final MeterRegistry registry;
  private final Tags tags;
  private final TagValues eventTypes;
  private final Map<String, Published> published = new ConcurrentHashMap<>();
  private final Counter dispatched;
  private final Counter retryable;
  private final Counter dead;
  private final Counter conflict;
  private final Counter released;
  private final Counter deferred;

  /** Successes and failures of one event type. */
  private record Published(Counter succeeded, Counter failed) {}

  /**
   * @param subscription empty for default subscriptions
   */
  SubscriptionMeters(
      MeterRegistry registry, String destination, String subscription, TagValues eventTypes) {
    this.registry = registry;
    this.tags = Tags.of("destination", destination, "subscription", subscription);
    this.eventTypes = eventTypes;
    this.dispatched = attempts(AttemptState.DISPATCHED.name());
    this.retryable = attempts(AttemptState.RETRYABLE.name());
    this.dead = attempts(AttemptState.FAILED.name());
    this.conflict = attempts(AttemptState.CONFLICT.name());
    this.released = attempts("RELEASED");
    this.deferred = attempts("DEFERRED");
  }

  private Counter attempts(String state) {
    return attempts(registry, tags, state);
  }

  static Counter attempts(MeterRegistry registry, Tags tags, String state) {
    return Counter.builder("outbox.attempts")
        .description("Attempts by what they came to")
        .tags(tags.and("state", state))
        .register(registry);
  }

  void settled(Settlement settlement) {
    switch (settlement.decision()) {
      case DELIVERED -> dispatched.increment();
      case RETRY -> retryable.increment();
      case DEAD, DEAD_BLOCKING -> dead.increment();
      case RELEASED -> released.increment();
      case DEFERRED -> deferred.increment();
    }
  }

  void conflict() {
    conflict.increment();
  }

  void succeeded(Settlement settlement) {
    published(settlement).succeeded().increment();
  }

  void failed(Settlement settlement) {
    published(settlement).failed().increment();
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
        .tags(tags.and("event_type", type))
        .register(registry);
  }
}

package dev.postrider.observe;

import dev.postrider.message.AttemptState;
import dev.postrider.message.Settlement;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.stream.Stream;

/**
 * Counts what a relay does in a Micrometer registry; {@code docs/reference/metrics.md} lists the
 * names. Needs Micrometer on the class path, as nothing else in the core does. One instance may
 * serve several relays, and a {@link BacklogSampler} beside them. Thread-safe.
 */
public final class MicrometerMetrics implements RelayListener {
  private static final String FLUSH_PREFIX = "outbox_flush_";
  private static final Set<String> FLUSH_OUTCOMES =
      Set.of("success", "retry", "dead", "conflict", "dedup_hit", "db_timeout", "db_error");
  private static final Set<String> WAKEUPS =
      Set.of("notify", "poll", "local", "help", "control", "stop");
  private static final Set<String> DATABASE_FAILURES =
      Set.of("timeout", "transient", "conflict", "fatal");

  private final MeterRegistry registry;
  private final EventTypes eventTypes = new EventTypes();
  private final BacklogMeters backlogMeters;
  private final Map<String, DestinationMeters> destinations = new ConcurrentHashMap<>();
  private final Map<String, Counter> wakeups;
  private final Map<String, Counter> databaseFailures;
  private final Map<String, Counter> flushes;
  private final Counter zombies;
  private final Counter requeues;
  private final Counter fullClaims;
  private final Counter emptyClaims;
  private final Counter claimedMessages;
  private final Timer claimLatency;

  public MicrometerMetrics(MeterRegistry registry) {
    this.registry = registry;
    this.backlogMeters = new BacklogMeters(registry);
    // All of them at once: a series that starts with its first event hides that event from rate().
    this.wakeups = counters("outbox.wakeups", "Why a thread of the relay woke", "reason", WAKEUPS);
    this.databaseFailures =
        counters(
            "outbox.database.failures",
            "Failed calls of the relay to the database",
            "kind",
            DATABASE_FAILURES);
    this.flushes = counters("outbox.flush", "Calls to the lease store", "outcome", FLUSH_OUTCOMES);
    this.zombies = DestinationMeters.attempts(registry, "none", AttemptState.ZOMBIE_REQUEUE.name());
    this.requeues =
        Counter.builder("outbox.reaper.requeues")
            .description("Messages put back after their relay died")
            .register(registry);
    this.fullClaims = claims("messages");
    this.emptyClaims = claims("empty");
    this.claimedMessages =
        Counter.builder("outbox.claimed.messages")
            .description("Messages claimed")
            .register(registry);
    this.claimLatency =
        Timer.builder("outbox.claim.latency")
            .description("Time of a claim in the database")
            .serviceLevelObjectives(DestinationMeters.BUCKETS)
            .register(registry);
  }

  private Counter claims(String result) {
    return Counter.builder("outbox.claim.batches")
        .description("Claims, with messages and in vain")
        .tag("result", result)
        .register(registry);
  }

  private Map<String, Counter> counters(
      String name, String description, String tag, Set<String> values) {
    Map<String, Counter> counters = new ConcurrentHashMap<>();
    Stream.concat(values.stream(), Stream.of("other"))
        .forEach(
            value ->
                counters.put(
                    value,
                    Counter.builder(name)
                        .description(description)
                        .tag(tag, value)
                        .register(registry)));
    return Map.copyOf(counters);
  }

  /** The counter of a value; one that is not known counts as other, so that tags stay few. */
  private static Counter counter(Map<String, Counter> counters, String value) {
    Counter known = counters.get(value);
    return known != null
        ? known
        : counters.getOrDefault("other", counters.values().iterator().next());
  }

  /** Shows what was read from the database; give it to a {@link BacklogSampler}. */
  public void backlog(Backlog backlog) {
    backlogMeters.show(backlog);
  }

  /**
   * Counts what calls to the lease store came to.
   *
   * @param code such as {@code dedup_hit}, with or without its prefix {@code outbox_flush_}
   */
  public void flushed(String code, int count) {
    String outcome = code.startsWith(FLUSH_PREFIX) ? code.substring(FLUSH_PREFIX.length()) : code;
    counter(flushes, outcome).increment(count);
  }

  private DestinationMeters destination(String name) {
    DestinationMeters known = destinations.get(name);
    return known != null
        ? known
        : destinations.computeIfAbsent(name, n -> new DestinationMeters(registry, n, eventTypes));
  }

  @Override
  public void opened(String destination, IntSupplier inFlight) {
    destination(destination).opened(inFlight);
  }

  @Override
  public void closed(String destination, IntSupplier inFlight) {
    destination(destination).closed(inFlight);
  }

  @Override
  public void woken(String reason) {
    counter(wakeups, reason).increment();
  }

  @Override
  public void claimed(int messages, Duration took) {
    (messages > 0 ? fullClaims : emptyClaims).increment();
    claimedMessages.increment(messages);
    claimLatency.record(took);
  }

  @Override
  public void settled(String destination, Settlement settlement) {
    destination(destination).settled(settlement);
  }

  @Override
  public void conflict(String destination, Settlement settlement) {
    destination(destination).conflict();
  }

  @Override
  public void reaped(int messages) {
    requeues.increment(messages);
    zombies.increment(messages);
  }

  @Override
  public void breaker(String destination, String state) {
    destination(destination).breaker(state);
  }

  @Override
  public void targetBreaker(String destination, String target, String state) {
    destination(destination).targetBreaker(state);
  }

  @Override
  public void violation(String destination, String what) {
    destination(destination).violation();
  }

  @Override
  public void databaseFailed(String kind, Exception error) {
    counter(databaseFailures, kind).increment();
  }
}

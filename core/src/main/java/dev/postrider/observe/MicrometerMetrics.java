package dev.postrider.observe;

import dev.postrider.message.AttemptState;
import dev.postrider.message.Settlement;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/**
 * Counts what a relay does in a Micrometer registry; {@code docs/reference/metrics.md} lists the
 * names. Needs Micrometer on the class path. One instance may serve several relays. Make one only
 * in a process that runs a relay: its series start at 0, and alerts take them for a relay.
 * Thread-safe.
 */
public final class MicrometerMetrics implements RelayListener {
  private static final Set<String> WAKEUPS =
      Set.of("notify", "poll", "local", "help", "control", "stop");
  private static final Set<String> DATABASE_FAILURES =
      Set.of("timeout", "transient", "conflict", "fatal");

  private static final Set<String> RETENTION_TASKS =
      Set.of(
          "messages",
          "dedupe_keys",
          "inbox",
          "stream",
          "dead_letters",
          "audit",
          "replay_jobs",
          "workers",
          "delivered_content",
          "ordering_keys");

  private final MeterRegistry registry;
  private final DestinationMeters.Labels labels = new DestinationMeters.Labels();
  private final Map<String, DestinationMeters> destinations = new ConcurrentHashMap<>();
  private final TagMeters wakeups;
  private final TagMeters databaseFailures;
  private final TagMeters retained;
  private final TagMeters retentionRuns;
  private final TagMeters retentionFailures;
  private final Map<String, AtomicLong> retentionAges = new ConcurrentHashMap<>();
  private final Counter zombies;
  private final Counter requeues;
  private final Counter fullClaims;
  private final Counter emptyClaims;
  private final Counter claimedMessages;
  private final Timer claimLatency;

  public MicrometerMetrics(MeterRegistry registry) {
    this.registry = registry;
    // All of them at once: a series that starts with its first event hides that event from rate().
    this.wakeups =
        TagMeters.of(
            registry, "outbox.wakeups", "Why a thread of the relay woke", "reason", WAKEUPS);
    this.databaseFailures =
        TagMeters.of(
            registry,
            "outbox.database.failures",
            "Failed calls of the relay to the database",
            "kind",
            DATABASE_FAILURES);
    this.retained =
        TagMeters.of(
            registry,
            "outbox.retention.removed",
            "Rows removed because they were past their retention",
            "task",
            RETENTION_TASKS);
    this.retentionRuns =
        TagMeters.of(
            registry, "outbox.retention.runs", "Retention tasks done", "task", RETENTION_TASKS);
    this.retentionFailures =
        TagMeters.of(
            registry,
            "outbox.retention.failures",
            "Retention tasks that failed",
            "task",
            RETENTION_TASKS);
    this.zombies =
        SubscriptionMeters.attempts(
            registry,
            Tags.of("destination", "none", "subscription", ""),
            AttemptState.ZOMBIE_REQUEUE.name());
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

  private DestinationMeters destination(String name) {
    DestinationMeters known = destinations.get(name);
    return known != null
        ? known
        : destinations.computeIfAbsent(name, n -> new DestinationMeters(registry, n, labels));
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
    wakeups.increment(reason, 1);
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
    destination(destination).conflict(settlement);
  }

  @Override
  public void reaped(int messages) {
    requeues.increment(messages);
    zombies.increment(messages);
  }

  @Override
  public void retained(String task, long removed, Duration took) {
    retained.increment(task, removed);
    retentionRuns.increment(task, 1);
  }

  @Override
  public void retentionStopped(String task, long removed, Duration took) {
    retained.increment(task, removed);
  }

  /** Only for tasks that a relay here has a period for: others would look as if they were late. */
  @Override
  public void retentionAge(String task, Duration age) {
    retentionAges
        .computeIfAbsent(
            task,
            name -> {
              AtomicLong finished = new AtomicLong(System.nanoTime());
              Gauge.builder(
                      "outbox.retention.age",
                      finished,
                      since -> (System.nanoTime() - since.get()) / 1e9)
                  .description("Time since a retention task last came to its end in any relay")
                  .baseUnit("seconds")
                  .tag("task", name)
                  .strongReference(true)
                  .register(registry);
              return finished;
            })
        .set(System.nanoTime() - age.toNanos());
  }

  @Override
  public void retentionFailed(String task, Exception error) {
    retentionFailures.increment(task, 1);
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
    databaseFailures.increment(kind, 1);
  }
}

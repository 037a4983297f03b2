package dev.postrider.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.settle.SettlementRules;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.Route;
import dev.postrider.message.Settlement;
import dev.postrider.message.Settlement.Decision;
import dev.postrider.relay.Relay;
import dev.postrider.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntSupplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MicrometerMetricsTest {
  private static final Route MAIL = new Route("shop", "orders", "mail");

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final MicrometerMetrics metrics = new MicrometerMetrics(registry);

  private double count(String name, String... tags) {
    return registry.get(name).tags(tags).counter().count();
  }

  private double gauge(String name, String... tags) {
    return registry.get(name).tags(tags).gauge().value();
  }

  @Test
  @Tag("PO-11")
  @Tag("CH-8")
  void aRelayIsCountedFromWakeupToSettlement() {
    TestDatabase database = TestDatabase.create();
    try (Relay relay =
        Relay.builder(database.dataSource())
            .listener(metrics)
            .destination("rails", HandlerDestination.inline(MicrometerMetricsTest::answer))
            .route("shop", "*", "rails")
            .build()
            .start()) {
      await().until(() -> count("outbox.wakeups", "reason", "poll") >= 1);
      // The first comes from the connection itself, so that nothing rung before it is missed.
      await()
          .until(
              () -> {
                database.execute("select pg_notify('postrider', '')");
                return count("outbox.wakeups", "reason", "notify") >= 2;
              });
      database.execute(
          """
          select postrider.enqueue('shop', 'orders', '{}', event_type => t)
            from unnest(array['fine', 'fine', 'later', 'never']) t
          """);
      await()
          .untilAsserted(
              () -> {
                assertThat(attempts("DISPATCHED")).isEqualTo(2);
                assertThat(attempts("RETRYABLE")).isEqualTo(1);
                assertThat(attempts("FAILED")).isEqualTo(1);
              });
      assertThat(relay.status().destinations()).containsKey("rails");
      await().until(() -> gauge("outbox.in.flight", "destination", "rails") == 0);
    }
    assertThat(count("outbox.publish.success", "event_type", "fine")).isEqualTo(2);
    assertThat(count("outbox.publish.failed", "event_type", "later")).isEqualTo(1);
    assertThat(count("outbox.publish.failed", "event_type", "never")).isEqualTo(1);
    assertThat(count("outbox.publish.failed", "event_type", "fine")).isZero();
    assertThat(count("outbox.claim.batches", "result", "messages")).isPositive();
    assertThat(count("outbox.claim.batches", "result", "empty")).isPositive();
    assertThat(count("outbox.claimed.messages")).isEqualTo(4);
    assertThat(registry.get("outbox.publish.latency").tag("outcome", "success").timer().count())
        .isEqualTo(2);
  }

  private static Outcome answer(Message message) {
    return switch (String.valueOf(message.eventType())) {
      case "later" -> Outcome.retryable("busy", "come again", Duration.ofHours(1));
      case "never" -> Outcome.terminal("invalid", "no such account");
      default -> Outcome.delivered();
    };
  }

  private double attempts(String state) {
    return count("outbox.attempts", "destination", "rails", "state", state);
  }

  @Test
  @Tag("EN-23")
  void countersNameTheSubscription() {
    Settlement delivered = Samples.settled(Decision.DELIVERED, null, null);
    Settlement dead = Samples.settled(MAIL, Decision.DEAD, "invalid", "no", "paid");
    metrics.settled("rails", delivered);
    metrics.settled("rails", dead);
    metrics.conflict("rails", dead);
    assertThat(count("outbox.attempts", "subscription", "", "state", "DISPATCHED")).isEqualTo(1);
    assertThat(count("outbox.attempts", "subscription", "mail", "state", "FAILED")).isEqualTo(1);
    assertThat(count("outbox.attempts", "subscription", "mail", "state", "CONFLICT")).isEqualTo(1);
    assertThat(count("outbox.attempts", "subscription", "", "state", "FAILED")).isZero();
    assertThat(count("outbox.publish.success", "subscription", "")).isEqualTo(1);
    assertThat(count("outbox.publish.failed", "subscription", "mail")).isEqualTo(1);
    for (int i = 0; i < 200; i++) {
      Route other = new Route("shop", "orders", "s" + i);
      metrics.settled("rails", Samples.settled(other, Decision.DELIVERED, null, null, "paid"));
    }
    assertThat(
            registry.find("outbox.attempts").meters().stream()
                .map(meter -> meter.getId().getTag("subscription"))
                .distinct())
        .as("a bounded number of series")
        .hasSize(TagValues.MOST + 2)
        .contains("other");
  }

  @Test
  @Tag("PO-11")
  void theReaperConflictsAndBreakersAreCounted() {
    IntSupplier three = () -> 3;
    metrics.opened("rails", three);
    metrics.opened("rails", () -> 4);
    metrics.reaped(5);
    metrics.conflict("rails", Samples.settled(Decision.DELIVERED, null, null));
    metrics.settled("rails", Samples.settled(Decision.RELEASED, null, null));
    Answered away =
        new Answered(
            Samples.settled(Decision.RELEASED, null, null).claimed(),
            Outcome.unavailable("refused", "connection refused"),
            3,
            null,
            false);
    metrics.settled("rails", SettlementRules.of(away, RetryPolicy.DEFAULT));
    metrics.breaker("rails", "open");
    metrics.violation("rails", "answered twice");
    metrics.databaseFailed("timeout", new Exception());
    metrics.databaseFailed("never heard of", new Exception());
    assertThat(count("outbox.reaper.requeues")).isEqualTo(5);
    assertThat(count("outbox.attempts", "state", "ZOMBIE_REQUEUE")).isEqualTo(5);
    assertThat(attempts("CONFLICT")).isEqualTo(1);
    assertThat(attempts("RELEASED")).isEqualTo(2);
    assertThat(count("outbox.publish.failed", "event_type", "paid")).isEqualTo(1);
    assertThat(gauge("outbox.breaker.state", "destination", "rails")).isEqualTo(2);
    assertThat(count("outbox.breaker.changes", "state", "open")).isEqualTo(1);
    assertThat(count("outbox.contract.violations")).isEqualTo(1);
    assertThat(count("outbox.database.failures", "kind", "timeout")).isEqualTo(1);
    assertThat(count("outbox.database.failures", "kind", "other")).isEqualTo(1);
    assertThat(gauge("outbox.in.flight", "destination", "rails")).isEqualTo(7);
    metrics.closed("rails", three);
    assertThat(gauge("outbox.in.flight", "destination", "rails")).isEqualTo(4);
  }

  @Test
  @Tag("OP-8")
  void onlyFinishedRunsOfTheRetentionCountAndTheAgeGrows() {
    metrics.retained("inbox", 5, Duration.ZERO);
    metrics.retentionStopped("inbox", 2, Duration.ZERO);
    metrics.retentionFailed("audit", new Exception());
    assertThat(count("outbox.retention.runs", "task", "inbox")).isEqualTo(1);
    assertThat(count("outbox.retention.removed", "task", "inbox")).isEqualTo(7);
    assertThat(count("outbox.retention.failures", "task", "audit")).isEqualTo(1);
    metrics.retentionAge("inbox", Duration.ofHours(3));
    assertThat(gauge("outbox.retention.age", "task", "inbox")).isBetween(10_800.0, 11_400.0);
    metrics.retentionAge("inbox", Duration.ZERO);
    assertThat(gauge("outbox.retention.age", "task", "inbox")).isBetween(0.0, 600.0);
  }

  @Test
  @Tag("LP-8")
  void everyOutcomeOfTheLeaseStoreIsCountedUnderItsCode() {
    FlushMeters flushes = new FlushMeters(registry);
    for (String code :
        List.of("success", "retry", "dead", "conflict", "dedup_hit", "db_timeout", "db_error")) {
      assertThat(count("outbox.flush", "outcome", code)).isZero();
      flushes.flushed(code, 1);
      flushes.flushed("outbox_flush_" + code, 2);
      assertThat(count("outbox.flush", "outcome", code)).isEqualTo(3);
    }
  }

  @Test
  void eventTypesBeyondTheFirstHundredCountTogether() {
    for (int i = 0; i < 150; i++) {
      metrics.settled("rails", Samples.settled(Decision.DELIVERED, null, null, "type-" + i));
    }
    metrics.settled("rails", Samples.settled(Decision.DELIVERED, null, null, "type-7"));
    metrics.settled("rails", Samples.settled(Decision.DELIVERED, null, null, null));
    assertThat(count("outbox.publish.success", "event_type", "type-7")).isEqualTo(2);
    assertThat(count("outbox.publish.success", "event_type", "other")).isEqualTo(50);
    assertThat(count("outbox.publish.success", "event_type", "none")).isEqualTo(1);
  }

  private static Backlog backlog() {
    return new Backlog(
        List.of(
            new Backlog.Topic(
                new Route("shop", "orders"), 11, true, Duration.ofMillis(2500), 4, false),
            new Backlog.Topic(new Route("shop", "bills"), 1, false, Duration.ZERO, 0, false)),
        5,
        2,
        1,
        false);
  }

  @Test
  @Tag("PO-11")
  @Tag("CH-8")
  void theBacklogIsShownInTotalAndByTopic() {
    BacklogMeters meters = new BacklogMeters(registry);
    assertThat(gauge("outbox.pending.depth")).isNaN();
    meters.show(backlog());
    assertThat(gauge("outbox.pending.depth")).isEqualTo(12);
    assertThat(gauge("outbox.pending.estimated")).isEqualTo(1);
    assertThat(gauge("outbox.oldest.pending.age")).isEqualTo(2.5);
    assertThat(gauge("outbox.dead.depth")).isEqualTo(4);
    assertThat(gauge("outbox.dispatching")).isEqualTo(5);
    assertThat(gauge("outbox.stuck.dispatching")).isEqualTo(2);
    assertThat(gauge("outbox.blocked.keys")).isEqualTo(1);
    assertThat(gauge("outbox.backlog.age")).isCloseTo(0, within(60.0));
    assertThat(gauge("outbox.topic.pending.depth", "topic", "orders")).isEqualTo(11);
    assertThat(gauge("outbox.topic.oldest.pending.age", "topic", "orders")).isEqualTo(2.5);
    meters.show(new Backlog(List.of(), 0, 0, 0, false));
    assertThat(registry.find("outbox.topic.pending.depth").gauges()).isEmpty();
  }

  @Test
  @Tag("PO-11")
  @Tag("CH-8")
  @Tag("LP-8")
  void theDocumentedNamesAreThoseThatPrometheusSees() throws Exception {
    PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    MicrometerMetrics all = new MicrometerMetrics(prometheus);
    all.opened("rails", () -> 0);
    all.settled("rails", Samples.settled(Decision.DELIVERED, null, null));
    all.retentionAge("inbox", Duration.ZERO);
    new BacklogMeters(prometheus).show(backlog());
    new FlushMeters(prometheus).flushed("success", 1);
    Set<String> seen = names("(?m)^# TYPE (\\S+)", prometheus.scrape());
    seen.removeIf(name -> name.endsWith("_seconds_max"));
    Path page = Path.of("../docs/reference/metrics.md");
    assertThat(names("(?m)^\\| `(outbox_\\w+)", Files.readString(page))).isEqualTo(seen);
  }

  /** A process exports what it does: alerts take the series of a relay for a relay. */
  @Test
  @Tag("OP-7")
  void metersOfOnePartExportNothingOfTheOthers() {
    PrometheusMeterRegistry server = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new BacklogMeters(server).show(backlog());
    assertThat(server.scrape())
        .contains("outbox_pending_depth")
        .doesNotContain("outbox_wakeups", "outbox_claim", "outbox_attempts", "outbox_flush");
    PrometheusMeterRegistry relay = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new MicrometerMetrics(relay).woken("poll");
    assertThat(relay.scrape())
        .contains("outbox_wakeups_total")
        .doesNotContain("outbox_pending", "outbox_backlog", "outbox_flush");
  }

  private static Set<String> names(String pattern, String text) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map((MatchResult found) -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}

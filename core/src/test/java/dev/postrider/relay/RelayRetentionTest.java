package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.Message;
import dev.postrider.observe.MicrometerMetrics;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Retention runs in every relay by itself. */
@Tag("OP-8")
@Timeout(60)
class RelayRetentionTest {
  private final Post post = new Post();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @AfterEach
  void close() {
    post.close();
  }

  private Relay.Builder builder(RetentionConfig retention) {
    return post.builder()
        .listener(new MicrometerMetrics(meters))
        .retention(retention)
        .destination("here", post.taking())
        .route("shop", "*", "here");
  }

  private static RetentionConfig seconds() {
    RetentionConfig config = RetentionConfig.off().withInterval(Duration.ofSeconds(1));
    for (RetentionTask task : RetentionTask.values()) {
      config = config.withPeriod(task, Duration.ofSeconds(1));
    }
    return config;
  }

  @Test
  void whatWasDeliveredGoesAndKeysGoOnAbove() {
    post.database.execute(
        "update postrider.engine set least_retention = '0', least_audit_retention = '0'");
    post.start(builder(seconds()));
    post.start(builder(seconds()));
    post.send("orders", "k", 70);
    post.untilEmpty();
    await()
        .until(
            () ->
                post.database.count(
                        "select (select count(*) from postrider.message)"
                            + " + (select count(*) from postrider.attempt)"
                            + " + (select count(*) from postrider.ordering_key)")
                    == 0);
    post.send("orders", "k");
    await().until(() -> post.delivered.size() == 71);
    Message last = post.delivered.get(70);
    assertThat(last.sequence()).isEqualTo(71);
    await()
        .until(
            () -> meters.counter("outbox.retention.removed", "task", "ordering_keys").count() > 0);
    assertThat(meters.counter("outbox.retention.failures", "task", "messages").count()).isZero();
    assertThat(post.database.column("select error from postrider.retention")).containsOnlyNulls();
  }

  @Test
  void whatIsNotDeliveredStays() {
    post.database.execute(
        "update postrider.engine set least_retention = '0', least_audit_retention = '0'");
    post.send("orders", "k", 5);
    post.start(
        post.builder()
            .retention(seconds())
            .destination("here", post.taking())
            .route("other", "*", "here"));
    String runs =
        "select count(*) from postrider.retention where finished_at > started_at - interval '1 s'"
            + " and task in ('messages', 'ordering_keys') and finished_at > '%s'";
    String now = post.database.value("select now() + interval '2 s'");
    await().until(() -> post.database.count(runs.formatted(now)) == 2);
    assertThat(post.database.count("select count(*) from postrider.message")).isEqualTo(5);
    assertThat(post.database.count("select count(*) from postrider.ordering_key")).isEqualTo(1);
  }

  @Test
  void aRelayWhoseCarriersEndedDoesNotRunEvenIfItsRetentionDoes() throws Exception {
    Set<Thread> others = Thread.getAllStackTraces().keySet();
    Relay relay = post.start(builder(RetentionConfig.defaults()));
    assertThat(relay.status().running()).isTrue();
    List<Thread> carriers =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> !others.contains(thread))
            .filter(thread -> thread.getName().startsWith("postrider-carry-"))
            .toList();
    assertThat(carriers).isNotEmpty();
    for (Thread carrier : carriers) {
      carrier.interrupt();
      carrier.join();
    }
    assertThat(relay.status().running()).isFalse();
  }

  @Test
  void aRelayThatIsToldToKeepEverythingDoes() {
    post.database.execute("update postrider.engine set least_retention = '0'");
    post.start(builder(RetentionConfig.off()));
    post.send("orders", "k");
    post.untilEmpty();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .doesNotContain("postrider-retain");
  }
}

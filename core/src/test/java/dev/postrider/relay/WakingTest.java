package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class WakingTest {
  private static final Duration NEVER = Duration.ofMinutes(1);

  @AutoClose private final Post post = new Post();

  private Relay.Builder builder(RelayConfig config) {
    return post.builder()
        .config(config)
        .destination("here", post.taking())
        .route("shop", "*", "here");
  }

  private boolean armed() {
    return post.database.count("select sum(postrider.bell(r)) from generate_series(0, 3) r") == 4;
  }

  private Relay startAsleep(Relay.Builder builder) {
    post.send("orders", null);
    Relay relay = post.start(builder);
    await().until(() -> post.delivered.size() == 1 && relay.status().listening() && armed());
    post.untilEmpty();
    return relay;
  }

  @Test
  @Tag("PO-7")
  void theDoorbellAloneDrivesEverything() {
    startAsleep(builder(Post.config().withPollInterval(NEVER)));
    for (int i = 2; i <= 20; i++) {
      int sent = i;
      post.send("orders", i % 2 == 0 ? "k" : null);
      await().atMost(Duration.ofSeconds(20)).until(() -> post.delivered.size() == sent);
    }
    post.send("a-new-topic", null);
    await().atMost(Duration.ofSeconds(20)).until(() -> post.delivered.size() == 21);
    assertThat(post.heard.wakeups).contains("notify").doesNotContain("poll");
  }

  /** Any login of the database can notify. */
  @Test
  @Tag("PO-7")
  void strangersCannotStopTheDoorbell() {
    startAsleep(builder(Post.config().withPollInterval(NEVER)));
    for (String payload : List.of("x", "2147483648", "9".repeat(7000), "-1", "1 2", "1x", "٣")) {
      post.database.execute("select pg_notify('postrider', '" + payload + "')");
    }
    post.send("orders", null);
    await().atMost(Duration.ofSeconds(20)).until(() -> post.delivered.size() == 2);
    assertThat(post.heard.wakeups).doesNotContain("poll");
  }

  @Test
  @Tag("PO-7")
  @Tag("EN-15")
  void pollingAloneDrivesEverything() {
    post.send("orders", "k", 100);
    Relay relay = post.start(builder(Post.config().withListen(false)));
    await().until(() -> post.delivered.size() == 100);
    post.send("a-new-topic", null, 100);
    await().until(() -> post.delivered.size() == 200);
    assertThat(relay.status().listening()).isFalse();
    await().until(() -> post.heard.wakeups.contains("poll")); // it may have been busy all the time
    assertThat(post.heard.wakeups).doesNotContain("notify");
    assertThat(armed()).as("producers ring for nobody").isFalse();
  }

  @Test
  @Tag("EN-15")
  void listensOnAConnectionOfItsOwnKind() {
    PGSimpleDataSource direct = new PGSimpleDataSource();
    direct.setUrl(post.database.jdbcUrl());
    direct.setApplicationName("direct");
    startAsleep(builder(Post.config().withPollInterval(NEVER)).direct(direct));
    post.send("orders", null);
    await().atMost(Duration.ofSeconds(20)).until(() -> post.delivered.size() == 2);
    assertThat(
            post.database.column(
                "select application_name from pg_stat_activity where datname ="
                    + " current_database() and query like 'listen%'"))
        .containsExactly("direct");
  }

  @Test
  @Tag("PO-7")
  void theLocalCallWakesAtOnce() {
    post.send("orders", null);
    Relay relay = post.start(builder(Post.config().withPollInterval(NEVER).withListen(false)));
    post.untilEmpty();
    for (int i = 2; i <= 10; i++) {
      int sent = i;
      post.send("orders", null);
      relay.wake();
      await().atMost(Duration.ofSeconds(20)).until(() -> post.delivered.size() == sent);
    }
    assertThat(post.heard.wakeups).contains("local").doesNotContain("poll", "notify");
  }

  @Test
  @Tag("PO-7")
  void nobodyRingsForABusyRelay() {
    startAsleep(builder(Post.config().withBatchSize(10).withPollInterval(NEVER)));
    await()
        .until(
            () -> {
              post.send("orders", null, 1000);
              return !armed();
            });
    post.untilEmpty();
    await().until(this::armed);
  }

  @Test
  @Tag("PO-7")
  void aBurstIsFewWakeups() {
    startAsleep(builder(Post.config().withPollInterval(NEVER)));
    int before = post.heard.wakeups.size();
    try (Burst burst = new Burst(post.database)) {
      burst.commit(1000);
    }
    await().until(() -> post.delivered.size() == 1001);
    assertThat(post.heard.wakeups.size() - before).isLessThan(500);
    assertThat(post.heard.wakeups).contains("notify").doesNotContain("poll");
  }

  /** One that takes it, and one that looks for more with the settlement. */
  @Test
  @Tag("PO-7")
  void aMessageIntoAnIdleRelayIsTwoClaims() {
    startAsleep(builder(Post.config().withCarriers(1).withPollInterval(NEVER)));
    int before = post.heard.claims.get();
    for (int i = 0; i < 20; i++) {
      post.send("orders", null);
      post.untilEmpty();
    }
    // The look after falling asleep may still have been to come.
    assertThat(post.heard.claims.get() - before).isBetween(40, 41);
  }
}

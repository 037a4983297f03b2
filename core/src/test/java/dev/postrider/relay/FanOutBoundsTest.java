package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A fan-out is short, however many topics, keys and messages wait. */
@Tag("EN-23")
@Timeout(120)
class FanOutBoundsTest {
  @AutoClose private final Post post = new Post();

  private void add(String topic) {
    post.database.execute(
        "select postrider.subscription_add('ann', 'shop', '" + topic + "', 'copy')");
  }

  private void fill(String topic, int messages) {
    post.database.execute(
        """
        select count(postrider.enqueue('shop', '%s', '{}', key => case when g %% 2 = 0 then 'k' || g end,
                 tenant => 't' || g %% 7))
          from generate_series(1, %d) g
        """
            .formatted(topic, messages));
  }

  private long fannedOut() {
    return post.database.count("select count(*) from postrider.queue where route > 0");
  }

  @Test
  void itsRowsAreBoundedForAllTopicsTogether() {
    for (int t = 0; t < FanOutTurns.TOPICS; t++) {
      add("t" + t);
      fill("t" + t, 600);
    }
    String all = "array(select id from postrider.route where fans_out order by id)";
    List<String> again =
        post.database.column(
            "select unnest(again) from postrider.fan_out(" + all + ", 800, '{}') order by 1");
    assertThat(fannedOut()).isBetween(100L, 3 * 800L);
    assertThat(again).as("all of them have more").hasSize(FanOutTurns.TOPICS);
  }

  @Test
  void topicsTakeTurns() {
    FanOutTurns turns = new FanOutTurns();
    assertThat(turns.due()).isFalse();
    List<Integer> all = IntStream.rangeClosed(1, 40).boxed().toList();
    turns.add(all);
    List<Integer> first = turns.next();
    assertThat(first).containsExactlyElementsOf(all.subList(0, FanOutTurns.TOPICS));
    turns.add(first);
    turns.add(all);
    assertThat(turns.next()).containsExactlyElementsOf(all.subList(FanOutTurns.TOPICS, 32));
    assertThat(turns.next()).startsWith(33, 34, 35, 36, 37, 38, 39, 40, 1).doesNotContain(9);
    assertThat(turns.due()).isTrue();
    turns.next();
    assertThat(turns.due()).isFalse();
  }

  /** The backlogs of many topics wait; a message of another one does not wait for all of them. */
  @Test
  void aBacklogOfOtherTopicsDelaysNone() {
    for (int t = 0; t < 30; t++) {
      add("t" + t);
      fill("t" + t, 2_000);
    }
    add("quick");
    Set<UUID> arrived = ConcurrentHashMap.newKeySet();
    post.start(
        post.builder()
            .destination("slow", HandlerDestination.inline(message -> Outcome.delivered()))
            .destination(
                "quick",
                HandlerDestination.inline(
                    message -> {
                      arrived.add(message.id());
                      return Outcome.delivered();
                    }))
            .route("shop", "*", "slow")
            .subscription("shop", "quick", "copy", "quick"));
    await().until(() -> fannedOut() > 0);
    UUID id = post.send("quick", null);
    await().until(() -> arrived.contains(id));
    assertThat(post.database.count("select count(*) from postrider.queue where route < 0"))
        .as("others are not fanned out yet")
        .isPositive();
  }

  private void fillUneven() {
    add("orders");
    post.database.execute(
        """
        select count(postrider.enqueue('shop', 'orders', '{}', tenant => 't' || g / 3))
          from generate_series(1, 1500) g;
        select count(postrider.enqueue('shop', 'orders', '{}', key => 'long')) from generate_series(1, 3000);
        select count(postrider.enqueue('shop', 'orders', '{}', key => 'k' || g)) from generate_series(1, 300) g
        """);
  }

  private long notFannedOut() {
    return post.database.count("select count(*) from postrider.queue where route < 0");
  }

  /** A share of each is small, so no step takes much; the next one must not wait for a poll. */
  @Test
  void manyTenantsAndALongKeyAreFannedOutToTheEnd() {
    fillUneven();
    int steps = 0;
    String more;
    do {
      more =
          post.database.value(
              "select again from postrider.fan_out(array(select id from postrider.route where"
                  + " fans_out), 1000, '{}')");
    } while (!more.equals("{}") && ++steps < 1_000);
    assertThat(notFannedOut()).isZero();
    assertThat(fannedOut()).isEqualTo(9_600);
  }

  @Test
  void aRelayThatDoesNotPollFansOutAllOfThem() {
    fillUneven();
    AtomicInteger arrived = new AtomicInteger();
    Destination destination =
        HandlerDestination.inline(
            message -> {
              arrived.incrementAndGet();
              return Outcome.delivered();
            });
    post.start(
        post.builder()
            .config(Post.config().withPollInterval(Duration.ofMinutes(1)))
            .destination("here", destination)
            .route("shop", "*", "here")
            .subscription("shop", "orders", "copy", "here"));
    await().atMost(Duration.ofSeconds(50)).until(() -> arrived.get() == 9_600);
  }

  /** What another one holds just now is taken in a later step. */
  @Test
  void whatIsLockedIsNotForgotten() throws Exception {
    add("orders");
    post.send("orders", "k");
    String fanOut =
        "select again <> '{}' from postrider.fan_out(array(select id from postrider.route where"
            + " fans_out), 1000, '{}')";
    try (var connection = post.database.transaction();
        var statement = connection.createStatement()) {
      statement.execute("select from postrider.queue for update");
      assertThat(post.database.value(fanOut)).isEqualTo("t");
    }
    assertThat(post.database.value(fanOut)).isEqualTo("f");
    assertThat(notFannedOut()).isZero();
  }

  @Test
  void aChangeOfTheSubscriptionsFansOutTheTenantsOfAll() {
    fillUneven();
    assertThat(
            post.database.value(
                "select postrider.subscription_remove('ann', 'shop', 'orders', 'copy')"))
        .isEqualTo("t");
    assertThat(notFannedOut()).isZero();
  }

  @Test
  void aChangeOfTheSubscriptionsKeepsProducersOutForSoMuchOnly() {
    add("orders");
    fill("orders", 40_000);
    post.database.execute("select postrider.subscription_add('ann', 'shop', 'orders', 'late')");
    assertThat(fannedOut()).isBetween(10_000L, 30_000L);
    assertThat(notFannedOut()).isPositive();
  }
}

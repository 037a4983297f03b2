package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
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
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class PauseTest {
  @AutoClose private final Post post = new Post();

  private void pause(String kind, String name) {
    post.database.execute(
        "insert into postrider.pause (kind, name, paused_by) values ('%s', '%s', 'test')"
            .formatted(kind, name));
  }

  private void resume() {
    post.database.execute("delete from postrider.pause");
  }

  private void start() {
    post.start(
        post.builder()
            .destination("first", post.taking())
            .destination("second", post.taking())
            .route("shop", "a", "first")
            .route("shop", "b", "second"));
  }

  private long deliveredOf(String topic) {
    synchronized (post.delivered) {
      return post.delivered.stream().filter(m -> m.route().topic().equals(topic)).count();
    }
  }

  @Test
  void aPausedDestinationGetsNothingUntilItIsResumed() {
    pause("destination", "first");
    post.send("a", null, 10);
    post.send("b", null, 10);
    start();
    await().until(() -> deliveredOf("b") == 10);
    assertThat(deliveredOf("a")).isZero();
    resume();
    await().until(() -> deliveredOf("a") == 10);
  }

  @Test
  void aTopicPausedWhileTheRelayRunsStopsAndGoesOn() {
    start();
    post.send("a", null);
    await().until(() -> deliveredOf("a") == 1);
    pause("topic", "shop/a");
    // Sent until one stays: the relay reads pauses once a second.
    await()
        .until(
            () -> {
              post.send("a", null);
              post.send("b", null);
              long expected = post.database.count("select count(*) from postrider.message") / 2;
              await().until(() -> deliveredOf("b") == expected);
              return post.database.count("select count(*) from postrider.queue") > 0;
            });
    resume();
    post.untilEmpty();
    assertThat(post.deliveredIds()).doesNotHaveDuplicates();
  }

  @Test
  void aPausedDestinationHoldsItsKeysFollowersOnOtherTopics() {
    pause("destination", "first");
    post.send("b", "k");
    post.send("a", "k");
    post.send("b", "k", 3);
    post.send("b", "free");
    start();
    await().until(() -> post.sequencesOf("free").size() == 1);
    await().until(() -> post.sequencesOf("k").equals(java.util.List.of(1L)));
    post.send("b", "free");
    await().until(() -> post.sequencesOf("free").size() == 2);
    assertThat(post.sequencesOf("k")).containsExactly(1L);
    resume();
    post.untilEmpty();
    assertThat(post.sequencesOf("k")).containsExactly(1L, 2L, 3L, 4L, 5L);
  }
}

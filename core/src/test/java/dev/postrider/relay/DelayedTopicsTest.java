package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many topics whose messages have to wait do not hold up the others. */
@Tag("EN-16")
@Timeout(120)
class DelayedTopicsTest {
  @AutoClose private final Post post = new Post();

  private Relay relay(RelayConfig config) {
    post.database.execute(
        """
        select count(postrider.enqueue('shop', 'topic-' || i, '{}', not_before => now() + interval '1 hour'))
          from generate_series(1, 1000) i
        """);
    return post.start(
        post.builder()
            .config(config)
            .destination("here", post.taking())
            .route("shop", "*", "here"));
  }

  @Test
  void aRingIsAnsweredAtOnce() {
    Relay relay = relay(Post.config().withPollInterval(Duration.ofMinutes(1)));
    await().until(() -> relay.status().listening() && wantsRings());
    for (String topic : new String[] {"new", "topic-500", "topic-1"}) {
      UUID id = post.send(topic, null);
      await().until(() -> post.deliveredIds().contains(id));
    }
    assertThat(post.heard.wakeups).doesNotContain("poll");
  }

  @Test
  void aRelayThatOnlyPollsFindsThem() {
    relay(Post.config().withListen(false));
    for (String topic : new String[] {"new", "topic-500", "topic-1"}) {
      UUID id = post.send(topic, null);
      await().until(() -> post.deliveredIds().contains(id));
    }
    post.makeDue();
    await().until(() -> post.delivered.size() == 1003);
  }

  private boolean wantsRings() {
    return post.database.count("select pg_sequence_last_value('postrider.doorbell_3')") == 1;
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A ring that a relay hears after it found the message by itself tells nothing about the next. */
@Tag("PO-7")
@Tag("EN-21")
@Timeout(120)
class VainRingTest {
  @AutoClose private final Post post = new Post();

  @Test
  void theOnlyRelayIgnoresNoRing() {
    Relay relay =
        post.start(
            post.builder()
                .config(Post.config().withPollInterval(Duration.ofMinutes(1)))
                .destination("here", post.taking())
                .route("shop", "*", "here"));
    await().until(() -> relay.status().listening() && wantsRings());
    for (int i = 1; i <= 300; i++) {
      int sent = i;
      post.send("orders", null);
      try {
        await()
            .pollInterval(Duration.ofMillis(1))
            .atMost(Duration.ofSeconds(10))
            .until(() -> post.delivered.size() == sent);
      } catch (ConditionTimeoutException e) {
        assertThat(post.heard.wakeups).as("message %d waits for the next poll", i).isEmpty();
      }
    }
    assertThat(post.heard.wakeups).doesNotContain("poll");
  }

  /** A transaction that enqueued before the relay wanted rings does not ring when it commits. */
  private boolean wantsRings() {
    return post.database.count("select pg_sequence_last_value('postrider.doorbell_3')") == 1;
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.testrules.NoSecondChance;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@NoSecondChance
class SeveralRelaysTest {
  @AutoClose private final Post post = new Post();

  @Test
  @Tag("EN-8")
  @Tag("MC-11")
  void shareTheWorkWithoutLosingOrDoublingAnything() {
    List<UUID> sent = new ArrayList<>(post.send("orders", null, 600));
    for (int key = 0; key < 10; key++) {
      sent.addAll(post.send("orders", "k" + key, 60));
    }
    CountDownLatch atWork = new CountDownLatch(3);
    for (int i = 0; i < 3; i++) {
      post.start(
          post.builder()
              .config(Post.config().withBatchSize(20))
              .destination("here", meeting(atWork), DestinationOptions.DEFAULT.withMaxInFlight(40))
              .route("shop", "*", "here"));
    }
    post.untilEmpty();
    assertThat(atWork.getCount()).isZero();
    assertThat(post.deliveredIds()).containsExactlyInAnyOrderElementsOf(sent);
    for (int key = 0; key < 10; key++) {
      assertThat(post.sequencesOf("k" + key)).isSorted().hasSize(60);
    }
  }

  /** Its first message waits until every relay has one. */
  private HandlerDestination meeting(CountDownLatch atWork) {
    boolean[] met = {false};
    return HandlerDestination.inline(
        message -> {
          if (!met[0]) {
            met[0] = true;
            atWork.countDown();
            if (!atWork.await(20, TimeUnit.SECONDS)) {
              return Outcome.terminal("alone", "the other relays found no work");
            }
          }
          return post.take(message);
        });
  }

  @Test
  @Tag("MC-11")
  void runUntilToldToStop() {
    Relay relay = post.start(post.taking());
    for (int i = 1; i <= 3; i++) {
      int sent = i;
      post.send("orders", null);
      await().until(() -> post.delivered.size() == sent);
    }
    assertThat(relay.start().status().running()).isTrue();

    relay.close();
    relay.close();
    UUID late = post.send("orders", null);
    assertThat(relay.status().running()).isFalse();
    assertThat(post.state(late)).isEqualTo("pending");

    post.start(post.taking());
    await().until(() -> post.deliveredIds().contains(late));
    assertThat(post.delivered).extracting(Message::id).doesNotHaveDuplicates();
  }
}

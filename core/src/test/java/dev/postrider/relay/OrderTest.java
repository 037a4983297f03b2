package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.testrules.NoSecondChance;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@NoSecondChance
class OrderTest {
  @AutoClose private final Post post = new Post();

  private static List<Long> upTo(long last) {
    return LongStream.rangeClosed(1, last).boxed().toList();
  }

  private static RouteOptions onDead(DeadPolicy policy) {
    return RouteOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withOnDead(policy));
  }

  private static DestinationOptions patient() {
    return DestinationOptions.DEFAULT.withBreaker(
        new DestinationOptions.BreakerOptions(
            100_000, DestinationOptions.DEFAULT.timeout(), DestinationOptions.DEFAULT.timeout()));
  }

  /** Fails a third of the calls, the head of a key as well as any other. */
  private Outcome moody(Message message) {
    int mood = ThreadLocalRandom.current().nextInt(6);
    return mood > 1 || message.attempt() > 5
        ? post.take(message)
        : mood == 1 ? Outcome.retryable("busy", "busy") : Outcome.unavailable("away", "away");
  }

  private void drain() {
    await()
        .until(
            () -> {
              post.makeDue();
              return post.database.count("select count(*) from postrider.queue") == 0;
            });
  }

  @Test
  @Tag("PO-6")
  void holdsUnderRetriesOnSeveralThreadsAndRelays() {
    for (int key = 0; key < 8; key++) {
      post.send("orders", "k" + key, 15);
      post.send("invoices", "k" + key, 15);
    }
    for (int i = 0; i < 2; i++) {
      post.start(HandlerDestination.of(4, this::moody), patient(), RouteOptions.DEFAULT);
    }
    drain();
    for (int key = 0; key < 8; key++) {
      assertThat(post.sequencesOf("k" + key)).isEqualTo(upTo(30));
    }
  }

  @Test
  @Tag("PO-6")
  void isTheOrderOfSequencesAlsoWhereIdsSayOtherwise() {
    long now = System.currentTimeMillis();
    for (int i = 0; i < 40; i++) {
      UUID id = new UUID((now - 1000L * i) << 16 | 0x7000, 0x8000000000000000L + i);
      post.send(
          List.of(NewMessage.to("shop", "orders").key("k" + i % 2).json("{}").id(id).build()));
    }
    post.start(post.taking());
    post.untilEmpty();
    assertThat(post.sequencesOf("k0")).isEqualTo(upTo(20));
    assertThat(post.sequencesOf("k1")).isEqualTo(upTo(20));
  }

  @Test
  @Tag("PO-6")
  void holdsForADestinationThatKeepsItItself() {
    post.send("orders", "k", 80);
    Destination keeping =
        new Destination() {
          @Override
          public void deliver(List<Message> batch, Answers answers) {
            boolean failed = false;
            for (Message message : batch) {
              Outcome outcome = failed ? Outcome.unavailable("behind", "behind") : moody(message);
              failed |= !(outcome instanceof Outcome.Delivered);
              answers.answer(message.id(), outcome);
            }
          }

          @Override
          public boolean keepsOrder() {
            return true;
          }
        };
    post.start(keeping, patient().withConcurrency(7), RouteOptions.DEFAULT);
    drain();
    assertThat(post.sequencesOf("k")).isEqualTo(upTo(80));
  }

  @Test
  @Tag("PO-6")
  void holdsAcrossDestinations() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    for (int i = 0; i < 5; i++) {
      post.send("slow", "k");
      post.send("quick", "k");
    }
    post.send("quick", "other");
    post.start(
        post.builder()
            .destination(
                "slow",
                HandlerDestination.inline(
                    message -> {
                      release.await();
                      return post.take(message);
                    }))
            .destination("quick", post.taking())
            .route("shop", "slow", "slow")
            .route("shop", "quick", "quick"));
    await().until(() -> post.sequencesOf("other").size() == 1);
    assertThat(post.sequencesOf("k")).isEmpty();
    release.countDown();
    post.untilEmpty();
    assertThat(post.sequencesOf("k")).isEqualTo(upTo(10));
  }

  @Test
  @Tag("PO-6")
  void aDeadHeadBlocksItsKeyAndNoOther() {
    UUID head = post.send("orders", "blocked", 3).get(0);
    post.send("orders", "free", 3);
    post.start(refusing(head), DestinationOptions.DEFAULT, onDead(DeadPolicy.BLOCK));
    await().until(() -> post.sequencesOf("free").size() == 3 && post.state(head).equals("dead"));
    post.send("orders", "free");
    await().until(() -> post.sequencesOf("free").size() == 4);
    assertThat(post.sequencesOf("blocked")).isEmpty();
    assertThat(
            post.database.column(
                "select state from postrider.message_state where ordering_key = 'blocked'"
                    + " order by sequence"))
        .containsExactly("dead", "pending", "pending");
  }

  @Test
  @Tag("PO-6")
  void aDeadHeadIsSkippedIfThePolicySaysSo() {
    UUID head = post.send("orders", "k", 3).get(0);
    post.start(refusing(head), DestinationOptions.DEFAULT, onDead(DeadPolicy.SKIP));
    post.untilEmpty();
    assertThat(post.state(head)).isEqualTo("dead");
    assertThat(post.sequencesOf("k")).containsExactly(2L, 3L);
  }

  private HandlerDestination refusing(UUID id) {
    return HandlerDestination.inline(
        message -> message.id().equals(id) ? Outcome.terminal("bad", "bad") : post.take(message));
  }
}

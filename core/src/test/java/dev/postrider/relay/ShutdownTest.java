package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.HandlerDestination;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ShutdownTest {
  @AutoClose private final Post post = new Post();
  private final CountDownLatch started = new CountDownLatch(1);
  private final CountDownLatch finish = new CountDownLatch(1);

  /** Takes one message and is busy with it until told to finish. */
  private HandlerDestination busy() {
    return HandlerDestination.inline(
        message -> {
          started.countDown();
          finish.await();
          return post.take(message);
        });
  }

  @Test
  @Tag("EN-11")
  void finishesWhatIsInFlight() throws Exception {
    UUID id = post.send("orders", null);
    Relay relay = post.start(busy());
    assertThat(started.await(20, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Void> closed = CompletableFuture.runAsync(relay::close);
    assertThat(post.state(id)).isEqualTo("processing");
    finish.countDown();
    closed.get(20, TimeUnit.SECONDS);
    assertThat(post.attempts(id)).containsExactly("DISPATCHED");
    assertThat(post.database.count("select count(*) from postrider.lease")).isZero();
    assertThat(
            post.database.count("select count(*) from postrider.worker where stopped_at is null"))
        .isZero();
  }

  @Test
  @Tag("EN-11")
  void releasesAtOnceWhatWasNotSentYet() throws Exception {
    post.send("orders", null, 50);
    post.send("orders", "k", 50);
    // With two carriers each could be at work on a message.
    Relay first =
        post.start(
            post.builder()
                .config(Post.config().withCarriers(1))
                .destination("here", busy())
                .route("shop", "*", "here"));
    assertThat(started.await(20, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Void> closed = CompletableFuture.runAsync(first::close);
    // The first relay still works on one message; its leases would hold for a minute.
    post.start(post.taking());
    await().until(() -> post.delivered.size() == 99);
    finish.countDown();
    closed.get(20, TimeUnit.SECONDS);
    post.untilEmpty();
    assertThat(post.deliveredIds()).hasSize(100).doesNotHaveDuplicates();
    assertThat(post.sequencesOf("k")).isSorted();
    assertThat(post.delivered).allMatch(message -> message.attempt() == 1);
  }

  @Test
  @Tag("EN-11")
  void givesBackWhatADestinationHangsOnAtTheDeadline() {
    UUID id = post.send("orders", "k", 3).get(0);
    Destination hanging = (batch, answers) -> started.countDown();
    Relay relay =
        post.start(
            post.builder()
                .config(Post.config().withShutdownTimeout(Duration.ofMillis(200)))
                .destination("here", hanging)
                .route("shop", "*", "here"));
    await().until(() -> started.getCount() == 0);
    long start = System.nanoTime();
    relay.close();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    assertThat(post.state(id)).isEqualTo("pending");
    post.start(post.taking());
    post.untilEmpty();
    assertThat(post.sequencesOf("k")).containsExactly(1L, 2L, 3L);
  }

  @Test
  @Tag("EN-11")
  void closesTheDestinationsOnceAndAlsoIfNeverStarted() {
    AtomicInteger closes = new AtomicInteger();
    Destination destination =
        new Destination() {
          @Override
          public void deliver(
              java.util.List<dev.postrider.message.Message> batch, Answers answers) {}

          @Override
          public void close() {
            closes.incrementAndGet();
          }
        };
    Relay relay =
        post.builder().destination("here", destination).route("shop", "*", "here").build();
    relay.close();
    relay.close();
    assertThat(relay.start().status().running()).isFalse();
    assertThat(closes).hasValue(1);
  }

  @Test
  void aRelayIsSeenWhileItRunsAndNoLonger() {
    Relay relay = post.start(post.taking());
    String carriers = "select count(*) from postrider.worker where seen_at > '-infinity'";
    await().until(() -> post.database.count(carriers) == 2);
    post.database.execute("update postrider.worker set seen_at = '-infinity'");
    await().until(() -> post.database.count(carriers) == 2);
    relay.close();
    assertThat(post.database.count(carriers + " and stopped_at >= seen_at")).isEqualTo(2);
  }
}

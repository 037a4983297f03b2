package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class GuardsTest {
  private static final DestinationOptions SHORT =
      DestinationOptions.DEFAULT.withTimeout(Duration.ofMillis(200));

  @AutoClose private final Post post = new Post();
  private final CountDownLatch release = new CountDownLatch(1);

  private Outcome hang(Message message) throws InterruptedException {
    release.await();
    return post.take(message);
  }

  @Test
  @Tag("PO-8")
  void whatTheCheckRefusesIsNeverSent() {
    UUID bad = post.send("bad", null);
    UUID good = post.send("good", null);
    MessageCheck check =
        message ->
            message.route().topic().equals("bad")
                ? Outcome.terminal("amount", "must be positive")
                : null;
    post.start(post.taking(), SHORT, RouteOptions.DEFAULT.withCheck(check));
    post.untilEmpty();
    assertThat(post.state(bad)).isEqualTo("dead");
    assertThat(post.deliveredIds()).containsExactly(good);
    assertThat(post.heard.sent).extracting(Message::id).containsExactly(good);
    assertThat(post.database.value("select code from postrider.dead_letter")).isEqualTo("amount");
  }

  @Test
  @Tag("PO-8")
  void aCheckThatThrowsOrHangsIsARetryAndHoldsUpNobodyElse() {
    UUID hangs = post.send("hangs", null);
    UUID throwing = post.send("throws", null);
    MessageCheck check =
        message -> {
          if (message.route().topic().equals("throws")) {
            throw new AssertionError("broken check");
          }
          try {
            release.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return null;
        };
    post.start(
        post.builder()
            .destination("guarded", post.taking(), SHORT)
            .destination("other", post.taking())
            .route("shop", "*", "guarded", RouteOptions.DEFAULT.withCheck(check))
            .route("shop", "fine", "other"));
    post.send("fine", null, 10);
    await().until(() -> post.delivered.size() == 10);
    await().until(() -> post.attempts(hangs).contains("RETRYABLE"));
    await().until(() -> post.attempts(throwing).contains("RETRYABLE"));
    assertThat(post.heard.sent).hasSize(10);
  }

  @Test
  @Tag("PO-8")
  void aCallWithoutAnswerEndsAtItsTimeout() {
    UUID id = post.send("orders", null);
    Destination silent = (batch, answers) -> {};
    post.start(silent, SHORT, RouteOptions.DEFAULT);
    await().until(() -> post.attempts(id).contains("RETRYABLE"));
    assertThat(
            post.database.value("select code || ' ' || (latency_ms >= 200) from postrider.attempt"))
        .isEqualTo("timeout true");
    assertThat(DestinationOptions.DEFAULT.timeout()).isEqualTo(Duration.ofSeconds(30));
  }

  @Test
  @Tag("PO-8")
  void aHandlerThatHangsIsInterruptedAndTheNextIsSent() {
    UUID hanging = post.send("hangs", null);
    post.send("fine", null, 5);
    post.start(
        HandlerDestination.inline(m -> m.id().equals(hanging) ? hang(m) : post.take(m)),
        SHORT,
        RouteOptions.DEFAULT);
    await().until(() -> post.delivered.size() == 5);
    await().until(() -> post.attempts(hanging).contains("RETRYABLE"));
  }

  @Test
  @Tag("PO-8")
  void aStuckDestinationHoldsUpNoOther() {
    post.send("stuck", null, 300);
    post.send("fine", null, 300);
    post.start(
        post.builder()
            .config(Post.config().withBatchSize(20))
            .destination(
                "stuck",
                HandlerDestination.of(2, this::hang),
                DestinationOptions.DEFAULT.withMaxInFlight(50))
            .destination("fine", post.taking())
            .route("shop", "stuck", "stuck")
            .route("shop", "fine", "fine"));
    await().until(() -> post.delivered.size() == 300);
    assertThat(post.delivered).allMatch(message -> message.route().topic().equals("fine"));
    release.countDown();
    post.untilEmpty();
    assertThat(post.deliveredIds()).hasSize(600).doesNotHaveDuplicates();
  }

  @Test
  void threadsThatHangCollectNoMessagesToHandleLater() {
    post.send("stuck", null, 2);
    post.start(
        HandlerDestination.of(
            1,
            message -> {
              boolean waiting = true;
              while (waiting) {
                try {
                  release.await();
                  waiting = false;
                } catch (InterruptedException e) {
                  // as stubborn as code can be
                }
              }
              return post.take(message);
            }),
        SHORT,
        RouteOptions.DEFAULT);
    await().until(() -> post.database.count("select count(*) from postrider.attempt") >= 1);
    await().until(() -> post.heard.sent.size() >= 3);
    assertThat(post.database.count("select count(*) from postrider.attempt")).isEqualTo(1);
    release.countDown();
    await()
        .until(
            () -> {
              post.makeDue();
              return post.database.count("select count(*) from postrider.queue") == 0;
            });
    assertThat(post.database.count("select count(distinct message_id) from postrider.attempt"))
        .isEqualTo(2);
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class OutageTest {
  private static final DestinationOptions QUICK =
      DestinationOptions.DEFAULT.withBreaker(
          new BreakerOptions(3, Duration.ofMillis(100), Duration.ofMillis(400)));

  @AutoClose private final Post post = new Post();
  private final AtomicBoolean up = new AtomicBoolean();

  private Outcome whenUp(Message message) {
    return up.get() ? post.take(message) : Outcome.unavailable("refused", "connection refused");
  }

  @Test
  @Tag("EN-10")
  void burnsNoAttemptsAndEndsByItself() {
    post.send("orders", "k", 20);
    post.send("orders", null, 20);
    post.start(HandlerDestination.inline(this::whenUp), QUICK, RouteOptions.DEFAULT);
    await().until(() -> post.heard.breakers.stream().filter("half_open"::equals).count() >= 3);
    up.set(true);
    post.untilEmpty();
    assertThat(post.delivered).hasSize(40).allMatch(message -> message.attempt() == 1);
    assertThat(post.sequencesOf("k")).isSorted();
    assertThat(post.heard.breakers).startsWith("open", "half_open", "open").endsWith("closed");
    long probes = post.heard.breakers.stream().filter("half_open"::equals).count();
    assertThat(post.database.count("select count(*) from postrider.attempt where state <> 1"))
        .as("only probes are recorded, and they do not count")
        .isLessThan(probes);
  }

  /** A destination with a single target, as a webhook is: its target's outage is its own. */
  @Test
  @Tag("EN-10")
  @Tag("EN-17")
  void withErrorsThatMayHaveReachedItKillsNoMessageEither() {
    Destination single =
        new Destination() {
          @Override
          public void deliver(List<Message> batch, Answers answers) {
            batch.forEach(
                message ->
                    answers.answer(
                        message.id(),
                        up.get() ? post.take(message) : Outcome.retryable("503", "overloaded")));
          }

          @Override
          public @Nullable String target(Message message) {
            return null;
          }
        };
    post.send("orders", "k", 10);
    post.send("orders", null, 50);
    RetryPolicy twice = RetryPolicy.DEFAULT.withMaxAttempts(2);
    post.start(single, QUICK.withConcurrency(1), RouteOptions.DEFAULT.withRetry(twice));
    await().until(() -> post.heard.breakers.stream().filter("half_open"::equals).count() >= 10);
    up.set(true);
    post.untilEmpty();
    assertThat(post.delivered).hasSize(60);
    assertThat(post.delivered.stream().filter(message -> message.attempt() > 1).count())
        .as("only the failures that opened the breaker count")
        .isLessThanOrEqualTo(3);
    assertThat(post.sequencesOf("k")).isSorted();
    assertThat(post.heard.targets).isEmpty();
  }

  @Test
  @Tag("EN-10")
  void sendsOneProbeAtATimeWhileOpen() {
    post.send("orders", null, 200);
    post.start(HandlerDestination.inline(this::whenUp), QUICK, RouteOptions.DEFAULT);
    await().until(() -> post.heard.breakers.stream().filter("half_open"::equals).count() >= 4);
    int sent = post.heard.sent.size();
    long probes = post.heard.breakers.stream().filter("half_open"::equals).count();
    // Three failures open it; from then on each half-open state sends a single message.
    assertThat((long) sent).isBetween(3L, 3 + probes);
    up.set(true);
    post.untilEmpty();
    assertThat(post.delivered).hasSize(200);
  }

  @Test
  @Tag("EN-10")
  void ofOneDestinationLeavesTheOthersAlone() {
    post.send("down", null, 50);
    post.send("fine", null, 50);
    post.start(
        post.builder()
            .destination("down", HandlerDestination.inline(this::whenUp), QUICK)
            .destination("fine", post.taking())
            .route("shop", "down", "down")
            .route("shop", "fine", "fine"));
    await().until(() -> post.delivered.size() == 50);
    assertThat(post.delivered).allMatch(message -> message.route().topic().equals("fine"));
  }

  @Test
  @Tag("EN-10")
  void terminalErrorsAreNoOutage() {
    post.send("orders", null, 30);
    Relay relay =
        post.start(
            HandlerDestination.inline(message -> Outcome.terminal("400", "bad")),
            QUICK,
            RouteOptions.DEFAULT);
    post.untilEmpty();
    assertThat(post.heard.breakers).isEmpty();
    assertThat(relay.status().destinations().get("here").breaker()).isEqualTo("closed");
  }
}

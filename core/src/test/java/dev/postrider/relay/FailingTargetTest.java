package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One part of a destination fails; the others do not notice. */
class FailingTargetTest {
  private static final DestinationOptions QUICK =
      DestinationOptions.DEFAULT.withBreaker(
          new BreakerOptions(3, Duration.ofMillis(100), Duration.ofMillis(400)));

  private static final RouteOptions TWO_ATTEMPTS =
      RouteOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withMaxAttempts(2));

  @AutoClose private final Post post = new Post();
  private final Set<String> bad = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean away = new AtomicBoolean();

  private Outcome unlessBad(Message message) {
    if (away.get()) {
      return Outcome.unavailable("refused", "connection refused");
    }
    return bad.contains(message.route().topic())
        ? Outcome.retryable("full", "the queue is full")
        : post.take(message);
  }

  private Relay start(RouteOptions how) {
    return post.start(HandlerDestination.inline(this::unlessBad), QUICK, how);
  }

  private long probes() {
    return post.heard.sent.stream().filter(m -> bad.contains(m.route().topic())).count();
  }

  @Test
  @Tag("EN-17")
  void doesNotHoldUpTheOthers() {
    bad.add("bad");
    post.send("bad", null, 2000);
    post.send("bad", "k", 20);
    post.send("fine", null, 100);
    post.send("fine", "f", 20);
    Relay relay = start(RouteOptions.DEFAULT);
    await().until(() -> post.delivered.size() == 120);
    assertThat(post.heard.breakers).isEmpty();
    assertThat(relay.status().destinations().get("here").breaker()).isEqualTo("closed");
    assertThat(post.sequencesOf("f")).isSorted();
    await().until(() -> post.heard.targets.equals(List.of("shop/bad open")));
    assertThat(relay.status().destinations().get("here").openTargets()).isEqualTo(1);
    relay.close();
    assertThat(post.heard.targets).containsExactly("shop/bad open", "shop/bad closed");
  }

  /** Longer than the pauses have room to grow: probes go on at the longest pause. */
  @Test
  @Tag("EN-10")
  @Tag("EN-17")
  void costsNoAttemptsHoweverLongItLasts() {
    bad.add("bad");
    post.send("bad", "k", 10);
    post.send("bad", null, 50);
    start(TWO_ATTEMPTS);
    await().until(() -> probes() >= 3 + 10);
    bad.clear();
    post.untilEmpty();
    assertThat(post.delivered).hasSize(60).allMatch(message -> message.attempt() <= 2);
    assertThat(post.sequencesOf("k")).isSorted().hasSize(10);
    assertThat(post.database.count("select count(*) from postrider.dead_letter")).isZero();
    // Only the failures before the breaker opened count.
    assertThat(post.delivered.stream().filter(message -> message.attempt() > 1).count())
        .isLessThanOrEqualTo(3);
  }

  @Test
  @Tag("EN-17")
  void isProbedByOneMessageAfterTheOther() {
    bad.add("bad");
    post.send("bad", null, 50);
    start(TWO_ATTEMPTS);
    await().until(() -> probes() >= 3 + 6);
    Set<?> probed = post.heard.sent.stream().map(Message::id).collect(Collectors.toSet());
    assertThat(probed).hasSizeGreaterThan(3 + 1);
    assertThat(post.database.count("select count(*) from postrider.attempt where state = 2"))
        .as("what was sent is recorded")
        .isGreaterThanOrEqualTo(3 + 5);
  }

  @Test
  @Tag("EN-17")
  void doesNotKeepTheDestinationFromComingBack() {
    bad.add("bad");
    post.send("bad", null, 100);
    start(RouteOptions.DEFAULT);
    await().until(() -> probes() >= 5);
    away.set(true);
    post.send("fine", null, 100);
    await().until(() -> post.heard.breakers.stream().filter("half_open"::equals).count() >= 2);
    away.set(false);
    await().until(() -> post.delivered.size() == 100);
    await().until(() -> post.heard.breakers.get(post.heard.breakers.size() - 1).equals("closed"));
  }

  /** The messages that would be taken for a probe first are all for a target that fails. */
  @Test
  @Tag("EN-17")
  void isNoReasonToLeaveTheDestinationOpen() {
    away.set(true);
    bad.add("bad");
    post.send("bad", null, 60);
    post.send("fine", null, 20);
    start(RouteOptions.DEFAULT);
    await().until(() -> post.heard.breakers.contains("half_open"));
    away.set(false);
    await().until(() -> post.delivered.size() == 20);
    assertThat(post.heard.breakers).endsWith("closed");
  }
}

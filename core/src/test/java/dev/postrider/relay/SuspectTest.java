package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Backoff;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages whose relays die: which of them kill their relays, and which were only near. */
@Tag("EN-18")
@Timeout(120)
class SuspectTest {
  private static final String ALL = "array(select id from postrider.route)";

  @AutoClose private final Post post = new Post();

  /** Claims, and is never heard of again; returns how many messages it took with it. */
  private long crash(boolean alone) {
    letADayPass();
    long taken =
        post.database.count(
            """
            select count(id) from postrider.claim_from(postrider.worker_id('dead'), 1000, 1000000, 1,
              %s, p_alone => %s)
            """
                .formatted(ALL, alone));
    post.expireLeases();
    return taken;
  }

  /** Whoever waited longest still comes first. */
  private void letADayPass() {
    post.database.execute(
        "update postrider.queue set due_at = due_at - interval '1 day' where due_at < 'infinity'");
  }

  private long lostLeases(UUID id) {
    return post.database.count(
        "select lost_leases from postrider.message_state where id = '" + id + "'");
  }

  private static RouteOptions attempts(int most) {
    return RouteOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withMaxAttempts(most));
  }

  /** As time passes, until nothing is left to do. */
  private void drain() {
    await()
        .until(
            () -> {
              post.makeDue();
              return post.database.count("select count(*) from postrider.queue") == 0;
            });
  }

  @Test
  void relaysThatCrashTenTimesKillNoMessage() {
    List<UUID> sent = post.send("orders", null, 25);
    post.send("orders", "k", 25);
    for (int i = 0; i < 10; i++) {
      crash(i >= 3);
    }
    assertThat(sent).allSatisfy(id -> assertThat(lostLeases(id)).isBetween(3L, 10L));
    post.start(post.taking(), DestinationOptions.DEFAULT, attempts(3));
    drain();
    assertThat(post.delivered).hasSize(50).allMatch(message -> message.attempt() == 1);
    assertThat(post.sequencesOf("k")).isSorted().hasSize(25);
    assertThat(post.database.count("select count(*) from postrider.dead_letter")).isZero();
  }

  @Test
  void lostLeasesAreCountedApartAndShown() {
    UUID id = post.send("orders", null);
    crash(false);
    crash(false);
    assertThat(lostLeases(id)).isEqualTo(2);
    assertThat(
            post.database.count(
                "select attempts from postrider.message_state where id = '" + id + "'"))
        .isZero();
    assertThat(post.attempts(id)).containsExactly("ZOMBIE_REQUEUE", "ZOMBIE_REQUEUE");
  }

  @Test
  void aSuspectIsClaimedAlone() {
    post.send("orders", null, 5);
    post.send("orders", "k", 5);
    for (int i = 0; i < 3; i++) {
      assertThat(crash(false)).isEqualTo(10);
    }
    assertThat(crash(false)).as("none goes with others").isZero();
    for (int i = 0; i < 4; i++) {
      assertThat(crash(true)).isEqualTo(1);
    }
  }

  @Test
  void itsNeighboursAreDeliveredMeanwhile() {
    UUID suspect = post.send("orders", null);
    for (int i = 0; i < 3; i++) {
      crash(false);
    }
    post.makeDue();
    List<UUID> others = post.send("orders", null, 40);
    post.start(
        HandlerDestination.of(
            2,
            message ->
                message.id().equals(suspect)
                    ? Outcome.retryable("busy", "busy")
                    : post.take(message)));
    await().until(() -> post.deliveredIds().containsAll(others));
    await().until(() -> post.attempts(suspect).contains("RETRYABLE"));
    assertThat(lostLeases(suspect)).as("an answer clears it").isZero();
  }

  /** While the suspect is with its destination, no other message is. */
  @Test
  void nothingElseIsInFlightWithASuspect() {
    UUID suspect = post.send("orders", null);
    for (int i = 0; i < 3; i++) {
      crash(false);
    }
    post.makeDue();
    List<Runnable> kept = new CopyOnWriteArrayList<>();
    post.start(
        (batch, answers) -> {
          for (Message message : batch) {
            answerOrKeep(message, suspect, answers, kept);
          }
        });
    await().until(() -> kept.size() == 1);
    List<UUID> others = post.send("orders", null, 20);
    assertThat(post.database.column("select cardinality(ids) from postrider.lease"))
        .containsExactly("1");
    kept.get(0).run();
    await().until(() -> post.deliveredIds().containsAll(others));
    post.untilEmpty();
  }

  private void answerOrKeep(Message message, UUID suspect, Answers answers, List<Runnable> kept) {
    Runnable answer = () -> answers.answer(message.id(), post.take(message));
    if (message.id().equals(suspect)) {
      kept.add(answer);
    } else {
      answer.run();
    }
  }

  @Test
  void oneThatLosesItsLeaseAloneTooOftenIsDead() {
    UUID id = post.send("orders", "k");
    UUID next = post.send("orders", "k");
    for (int i = 0; i < 3 + 4; i++) {
      assertThat(crash(i >= 3)).isPositive();
    }
    // Both were claimed together at first; then the first one alone.
    assertThat(lostLeases(id)).isEqualTo(7);
    post.start(post.taking(), DestinationOptions.DEFAULT, attempts(4));
    await()
        .until(
            () -> {
              post.makeDue();
              return post.state(id).equals("dead");
            });
    assertThat(post.database.value("select code from postrider.dead_letter"))
        .isEqualTo("leases_lost");
    assertThat(post.deliveredIds()).doesNotContain(id);
    drain();
    assertThat(post.deliveredIds()).containsExactly(next);
  }

  @Test
  void anAnswerInBetweenStartsTheCountAnew() {
    UUID id = post.send("orders", null);
    for (int i = 0; i < 5; i++) {
      crash(i >= 3);
    }
    post.makeDue();
    Relay relay =
        post.start(
            HandlerDestination.inline(message -> Outcome.retryable("busy", "busy")),
            DestinationOptions.DEFAULT,
            RouteOptions.DEFAULT.withRetry(
                RetryPolicy.DEFAULT.withBackoff(
                    new Backoff(Duration.ofHours(1), Duration.ofHours(1), 0.0))));
    await().until(() -> post.attempts(id).contains("RETRYABLE"));
    relay.close();
    assertThat(lostLeases(id)).isZero();
    assertThat(crash(false)).as("no suspect any more").isEqualTo(1);
    assertThat(lostLeases(id)).isEqualTo(1);
  }

  /** The rest of its key's run has been waiting for longer than the first message. */
  @Test
  void theFirstOfALongRunIsFound() {
    post.send("orders", "k", 600);
    for (int i = 0; i < 3; i++) {
      assertThat(crash(false)).isEqualTo(600);
    }
    for (int i = 0; i < 3; i++) {
      assertThat(crash(true)).isEqualTo(1);
    }
    assertThat(post.database.column("select sequence from postrider.queue where lost_leases > 3"))
        .containsExactly("1");
  }

  @Test
  void suspectsOfOtherTopicsHideNone() {
    post.send("paused", null, 600);
    for (int i = 0; i < 3; i++) {
      crash(false);
    }
    UUID plain = post.send("orders", null);
    UUID keyed = post.send("orders", "k");
    for (int i = 0; i < 3; i++) {
      crash(false);
    }
    letADayPass();
    String served =
        """
        select id from postrider.claim_from(postrider.worker_id('ann'), 10, 1000000, 60000,
          array(select id from postrider.route where topic = 'orders'), p_alone => true) where id is not null
        """;
    assertThat(post.database.column(served)).containsExactly(plain.toString());
    assertThat(post.database.column(served)).containsExactly(keyed.toString());
  }

  @Test
  void thoseWhoKeepNoCursorGetThemToo() {
    UUID suspect = post.send("orders", null);
    for (int i = 0; i < 3; i++) {
      crash(false);
    }
    letADayPass();
    UUID other = post.send("orders", null);
    String claim =
        "select id from postrider.claim(postrider.worker_id('ann'), 10, 1000000, 60000, "
            + ALL
            + ")";
    assertThat(post.database.column(claim)).containsExactly(other.toString());
    assertThat(post.database.column(claim)).containsExactly(suspect.toString());
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.Destination.Answers;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.message.Message;
import dev.postrider.testrules.NoSecondChance;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@NoSecondChance
class LostLeaseTest {
  @AutoClose private final Post post = new Post();
  private final List<Runnable> answersToGive = new CopyOnWriteArrayList<>();

  /** Keeps every message until the test lets it answer. */
  private void keep(List<Message> batch, Answers answers) {
    for (Message message : batch) {
      answersToGive.add(() -> answers.answer(message.id(), post.take(message)));
    }
  }

  private void claimAsADeadRelay() {
    post.database.execute(
        "select postrider.claim(postrider.worker_id('dead'), 100, 1000000, 100,"
            + " array(select id from postrider.route))");
  }

  @Test
  @Tag("PO-10")
  void theWorkOfADeadRelayGoesBackWithinTwoMinutesAtDefaults() {
    RelayConfig config = RelayConfig.defaults();
    assertThat(config.lease().plus(config.reapInterval()).plus(config.pollInterval()))
        .isLessThan(Duration.ofMinutes(2));
  }

  @Test
  @Tag("PO-10")
  @Tag("EN-7")
  void theWorkOfADeadRelayIsDoneByAnother() {
    UUID id = post.send("orders", "k", 2).get(0);
    claimAsADeadRelay();
    assertThat(post.attempts(id)).containsExactly("DISPATCHING");
    post.start(post.taking());
    post.untilEmpty();
    assertThat(post.attempts(id)).containsExactly("ZOMBIE_REQUEUE", "DISPATCHED");
    assertThat(post.sequencesOf("k")).containsExactly(1L, 2L);
    assertThat(post.delivered).allMatch(message -> message.attempt() == 1);
    assertThat(post.database.count("select postrider.reap()")).isZero();
    assertThat(post.attempts(id)).hasSize(2);
  }

  /** One call of the reaper ends a hundred leases: it does not wait before the next one. */
  @Test
  @Tag("PO-10")
  @Tag("EN-16")
  void theWorkOfManyDeadRelaysIsBackAtOnce() {
    post.send("orders", null, 300);
    post.database.execute(
        """
        select count(c.id) from generate_series(1, 300) i cross join lateral postrider.claim(
          postrider.worker_id('dead-' || i), 1, 1000000, 60000, array(select id from postrider.route)) c;
        update postrider.lease set until = '-infinity'
        """);
    post.start(
        post.builder()
            .config(Post.config().withReapInterval(Duration.ofSeconds(50)))
            .destination("here", post.taking())
            .route("shop", "*", "here"));
    post.untilEmpty();
    assertThat(post.deliveredIds()).doesNotHaveDuplicates().hasSize(300);
  }

  @Test
  @Tag("PO-13")
  void aResultAfterTheLeaseWasLostIsAConflictAndChangesNothing() {
    UUID id = post.send("orders", null);
    post.start(this::keep);
    await().until(() -> answersToGive.size() == 1);
    post.expireLeases();
    await().until(() -> answersToGive.size() == 2);
    answersToGive.get(0).run();
    await().until(() -> post.attempts(id).contains("CONFLICT"));
    assertThat(post.heard.conflicts).hasSize(1);
    assertThat(post.state(id)).isEqualTo("processing");
    answersToGive.get(1).run();
    await().until(() -> post.state(id).equals("delivered"));
    assertThat(post.attempts(id))
        .containsExactlyInAnyOrder("ZOMBIE_REQUEUE", "CONFLICT", "DISPATCHED");
  }

  @Test
  @Tag("PO-13")
  void aResultAfterTheTimeoutIsAConflictAndChangesNothing() {
    UUID id = post.send("orders", null);
    Destination destination = this::keep;
    post.start(
        destination,
        DestinationOptions.DEFAULT.withTimeout(Duration.ofMillis(100)),
        RouteOptions.DEFAULT);
    await().until(() -> post.attempts(id).contains("RETRYABLE"));
    answersToGive.get(0).run();
    await().until(() -> post.attempts(id).contains("CONFLICT"));
    assertThat(post.state(id)).isEqualTo("pending");
    assertThat(post.database.value("select code from postrider.attempt where state = 5"))
        .isEqualTo("delivered");
  }

  @Test
  void leasesAreRenewedWhileADestinationIsSlow() {
    UUID id = post.send("orders", null);
    post.start(
        post.builder()
            .config(Post.config().withLease(Duration.ofSeconds(1)))
            .destination("here", this::keep)
            .route("shop", "*", "here"));
    await().until(() -> answersToGive.size() == 1);
    String first = post.database.value("select until from postrider.lease");
    await()
        .until(
            () ->
                post.database.count(
                        "select count(*) from postrider.lease where until > '"
                            + first
                            + "'::timestamptz + interval '1.5 s'")
                    == 1);
    answersToGive.get(0).run();
    await().until(() -> post.state(id).equals("delivered"));
    assertThat(post.attempts(id)).containsExactly("DISPATCHED");
    assertThat(answersToGive).hasSize(1);
  }
}

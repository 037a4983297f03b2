package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.monitor.Why;
import dev.postrider.internal.monitor.Why.Kind;
import dev.postrider.internal.monitor.Why.Reason;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Backoff;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.Route;
import dev.postrider.operations.Pauses;
import dev.postrider.operations.Subscriptions;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.schema.Schema;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every reason why a message is not delivered, as the engine tells it. */
@Tag("OP-10")
@Timeout(60)
class WhyTest {
  private static final RouteOptions SLOW_RETRIES =
      RouteOptions.DEFAULT.withRetry(
          new RetryPolicy(
              new Backoff(Duration.ofHours(1), Duration.ofHours(2), 0),
              2,
              RetryPolicy.DeadPolicy.BLOCK));

  @AutoClose private final Post post = new Post();
  private final Why why = new Why(post.database.dataSource(), Schema.DEFAULT);
  private final Pauses pauses = new Pauses(post.database.dataSource(), Schema.DEFAULT);

  /**
   * A relay that makes today's partition moves the rows of the day, which hides them for a moment.
   */
  @BeforeEach
  void makePartitions() {
    post.database.execute("select postrider.ensure_partitions(1)");
  }

  private List<Reason> ask(UUID id) {
    try {
      return why.ask(id);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private List<Kind> kinds(UUID id) {
    return ask(id).stream().map(Reason::reason).toList();
  }

  private void awaitKinds(UUID id, Kind... kinds) {
    await().untilAsserted(() -> assertThat(kinds(id)).containsExactly(kinds));
  }

  @Test
  void withoutARelayOrARoute() {
    UUID id = post.send("orders", null);
    assertThat(kinds(id)).containsExactly(Kind.NO_RELAY);
    post.start(post.builder().destination("rail", post.taking()).route("shop", "bills", "rail"));
    awaitKinds(id, Kind.NO_ROUTE);
    assertThat(ask(id).get(0).text()).contains("route");
    post.start(post.builder().destination("rail", post.taking()).route("shop", "*", "rail"));
    awaitKinds(id, Kind.DELIVERED);
    assertThat(ask(id).get(0).since()).isNotNull();
    assertThat(ask(UUID.randomUUID())).isEmpty();
  }

  @Test
  void pausedTopicsAndDestinations() throws Exception {
    pauses.pause("ann", Pauses.Kind.TOPIC, "shop/orders");
    pauses.pause("bob", Pauses.Kind.DESTINATION, "here", true);
    post.start(post.taking());
    UUID id = post.send("orders", null);
    awaitKinds(id, Kind.TOPIC_PAUSED, Kind.DESTINATION_PAUSED);
    assertThat(ask(id).get(0).text()).contains("paused by ann");
    assertThat(ask(id).get(1).text()).contains("Destination here", "by bob");
    pauses.resume("ann", Pauses.Kind.TOPIC, "shop/orders");
    pauses.resume("ann", Pauses.Kind.DESTINATION, "here");
    awaitKinds(id, Kind.DELIVERED);
  }

  @Test
  @Tag("EN-23")
  void theEarlierMessagesOfItsSubscription() throws Exception {
    Replay replay = new Replay(post.database.dataSource(), Schema.DEFAULT);
    Route mail = new Route("shop", "orders", "mail");
    Long job =
        new Subscriptions(post.database.dataSource(), Schema.DEFAULT)
            .add("ann", mail, Instant.EPOCH);
    assertThat(job).isNotNull();
    post.start(
        post.builder()
            .destination("here", post.taking())
            .route("shop", "*", "here")
            .subscription("shop", "orders", "mail", "here"));
    UUID id = post.send("orders", "k");
    awaitKinds(id, Kind.CATCHING_UP);
    assertThat(ask(id).get(0).text())
        .startsWith("Subscription mail: It waits until")
        .contains("replay " + job + ", running");
    replay.stop("ann", job);
    assertThat(ask(id).get(0).text()).contains("replay " + job + ", stopped");
    replay.resume("ann", job);
    replay.run("ann", job, Pacer.unlimited(), progress -> true);
    awaitKinds(id, Kind.DELIVERED);
  }

  @Test
  void delayedMessagesAndThoseThatWaitForARetry() {
    post.start(
        HandlerDestination.inline(message -> Outcome.retryable("busy", "try later")),
        DestinationOptions.DEFAULT,
        SLOW_RETRIES);
    Instant later = Instant.now().plus(Duration.ofHours(3));
    UUID delayed =
        post.send(List.of(NewMessage.to("shop", "orders").json("{}").notBefore(later).build()))
            .get(0);
    assertThat(kinds(delayed)).last().isEqualTo(Kind.DELAYED);
    assertThat(ask(delayed).get(ask(delayed).size() - 1).until())
        .isBetween(later.minusSeconds(1), later.plusSeconds(1));
    UUID id = post.send("orders", null);
    awaitKinds(id, Kind.BACKOFF);
    Reason backoff = ask(id).get(0);
    assertThat(backoff.code()).isEqualTo("busy");
    assertThat(backoff.count()).isEqualTo(1);
    assertThat(backoff.until()).isAfter(Instant.now().plus(Duration.ofMinutes(50)));
  }

  @Test
  void theKeyOfAMessageThatIsInFlight() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    post.start(
        HandlerDestination.of(
            1,
            message -> {
              end.await();
              return post.take(message);
            }));
    UUID head = post.send("orders", "ann");
    awaitKinds(head, Kind.LEASED);
    assertThat(ask(head).get(0).relay()).isNotBlank();
    assertThat(ask(head).get(0).until()).isAfter(Instant.now());
    UUID follower = post.send("orders", "ann");
    assertThat(kinds(follower)).containsExactly(Kind.BEHIND, Kind.LEASED);
    List<Reason> reasons = ask(follower);
    assertThat(reasons.get(0).other()).isEqualTo(head);
    assertThat(reasons.get(0).count()).isEqualTo(1);
    assertThat(reasons.get(1).message()).isEqualTo(head);
    end.countDown();
    awaitKinds(follower, Kind.DELIVERED);
  }

  @Test
  void aLeaseThatHasEnded() {
    UUID id = post.send("orders", null);
    LeaseStore loop = new LeaseStore(post.database.dataSource(), Schema.DEFAULT, "loop");
    assertThat(loop.claim("shop", 1, Duration.ofMinutes(5))).hasSize(1);
    assertThat(kinds(id)).containsExactly(Kind.LEASED);
    post.database.execute("update postrider.lease set until = now() - interval '1 s'");
    assertThat(kinds(id)).containsExactly(Kind.LEASE_OVER);
    assertThat(ask(id).get(0).text()).contains("loop");
  }

  @Test
  void theKeyOfADeadMessage() throws Exception {
    post.start(
        HandlerDestination.inline(message -> Outcome.terminal("http_422", "no")),
        DestinationOptions.DEFAULT,
        SLOW_RETRIES);
    UUID head = post.send("orders", "ann");
    awaitKinds(head, Kind.DEAD);
    assertThat(ask(head).get(0).code()).isEqualTo("http_422");
    UUID follower = post.send("orders", "ann");
    UUID last = post.send("orders", "ann");
    assertThat(kinds(last)).containsExactly(Kind.BEHIND, Kind.DEAD);
    assertThat(ask(last).get(0).other()).isEqualTo(head);
    assertThat(ask(last).get(0).count()).isEqualTo(2);
    assertThat(ask(follower).get(0).text()).contains(head.toString());
  }

  @Test
  @Tag("EN-23")
  void eachSubscriptionHasItsOwnReasons() throws Exception {
    post.start(
        post.builder()
            .destination("rail", post.taking())
            .destination("mail", HandlerDestination.inline(m -> Outcome.terminal("no_such", "no")))
            .destination("search", HandlerDestination.inline(m -> Outcome.retryable("busy", "b")))
            .route("shop", "*", "rail")
            .subscription("shop", "orders", "mail", "mail", SLOW_RETRIES)
            .subscription("shop", "orders", "search", "search", SLOW_RETRIES));
    await()
        .until(
            () ->
                post.database.count("select count(*) from postrider.subscription where name <> ''")
                    == 2);
    UUID head = post.send("orders", "ann");
    await()
        .untilAsserted(
            () ->
                assertThat(ask(head))
                    .extracting(Reason::subscription, Reason::reason)
                    .containsExactly(tuple("search", Kind.BACKOFF), tuple("mail", Kind.DEAD)));
    assertThat(ask(head))
        .extracting(Reason::code, Reason::text)
        .allSatisfy(row -> assertThat(row.toList().get(0)).isIn("busy", "no_such"))
        .extracting(row -> row.toList().get(1).toString())
        .satisfiesExactly(
            text -> assertThat(text).startsWith("Subscription search: "),
            text -> assertThat(text).startsWith("Subscription mail: "));

    UUID next = post.send("orders", "ann");
    await()
        .untilAsserted(
            () ->
                assertThat(ask(next))
                    .extracting(Reason::message, Reason::subscription, Reason::reason)
                    .containsExactly(
                        tuple(next, "mail", Kind.BEHIND),
                        tuple(head, "mail", Kind.DEAD),
                        tuple(next, "search", Kind.BEHIND),
                        tuple(head, "search", Kind.BACKOFF)));
  }

  @Test
  void aDestinationThatIsDown() {
    post.start(
        HandlerDestination.inline(message -> Outcome.unavailable("refused", "refused")),
        DestinationOptions.DEFAULT.withBreaker(
            new BreakerOptions(1, Duration.ofMinutes(5), Duration.ofMinutes(5))),
        RouteOptions.DEFAULT);
    post.send("orders", null);
    UUID id = post.send("orders", "ann");
    await().until(() -> kinds(id).contains(Kind.BREAKER_OPEN));
    Reason open = ask(id).get(0);
    assertThat(open.destination()).isEqualTo("here");
    assertThat(open.since()).isNotNull();
  }

  @Test
  void nothingAtAll() throws Exception {
    // A loop on the lease store may serve the topic, so a missing route says nothing.
    UUID id = post.send("orders", null);
    post.database.execute("select postrider.worker_id('loop')");
    assertThat(kinds(id)).containsExactly(Kind.READY);
    post.database.execute(
        "update postrider.queue set lost_leases = 3, lane = -1 - lane, due_at = now()");
    assertThat(kinds(id)).containsExactly(Kind.SUSPECT);
    assertThat(ask(id).get(0).text()).contains("3 times");
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.destination.Destination;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import dev.postrider.operations.Subscriptions;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.schema.Schema;
import dev.postrider.testrules.NoSecondChance;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a subscription begins and ends, and what becomes of what waits for it. */
@Tag("EN-23")
@Timeout(120)
@NoSecondChance
class SubscriptionBorderTest {
  private static final Route MAIL = new Route("shop", "orders", "mail");
  private static final Route AUDIT = new Route("shop", "orders", "audit");

  @AutoClose private final Post post = new Post();
  private final Map<String, List<UUID>> arrived = new ConcurrentHashMap<>();
  private final Subscriptions subscriptions =
      new Subscriptions(post.database.dataSource(), Schema.DEFAULT);
  private final Replay replay = new Replay(post.database.dataSource(), Schema.DEFAULT);

  private List<UUID> at(String name) {
    return arrived.computeIfAbsent(name, n -> Collections.synchronizedList(new ArrayList<>()));
  }

  private Destination taking(String name) {
    return HandlerDestination.inline(
        (Message message) -> {
          at(name).add(message.id());
          return Outcome.delivered();
        });
  }

  private void startAll() {
    Relay.Builder builder =
        post.builder().destination("here", taking("here")).route("shop", "*", "here");
    for (String name : List.of("mail", "audit")) {
      builder.destination(name, taking(name)).subscription("shop", "orders", name, name);
    }
    post.start(builder);
  }

  private boolean catchingUp() throws Exception {
    return subscriptions.list().stream().anyMatch(Subscriptions.Subscription::catchingUp);
  }

  @Test
  void whatIsCommittedButNotFannedOutIsNotForANewOne() throws Exception {
    subscriptions.add("ann", MAIL);
    List<UUID> before = post.send("orders", "k", 3);
    subscriptions.add("ann", AUDIT);
    List<UUID> after = post.send("orders", "k", 3);
    startAll();
    await().until(() -> at("mail").size() == 6);
    post.untilEmpty();
    assertThat(at("mail")).containsAll(before).containsAll(after);
    assertThat(at("audit")).containsExactlyElementsOf(after);
  }

  /** It would be queued for the default subscription only, after the new one was there. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "select postrider.enqueue('shop', 'orders', '{}')",
        "select postrider.enqueue('shop', 'orders', '{}', key => 'new')",
        "select postrider.enqueue('shop', 'orders', '{}', key => 'new', dedupe_key => 'once')",
        "select postrider.enqueue_batch('[{\"namespace\": \"shop\", \"topic\": \"orders\","
            + " \"payload\": {}}]')"
      })
  void aTransactionThatBeganBeforeItWasAddedHasToBeRepeated(String enqueue) throws Exception {
    post.send("orders", null);
    for (boolean first : new boolean[] {true, false}) {
      try (Connection connection = post.database.dataSource().getConnection();
          Statement statement = connection.createStatement()) {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        statement.execute("select count(*) from pg_class"); // has its snapshot, and no lock
        subscriptions.add("ann", first ? MAIL : AUDIT);
        if (first) {
          assertThatThrownBy(() -> statement.execute(enqueue))
              .isInstanceOfSatisfying(
                  SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
        } else {
          statement.execute(enqueue);
          connection.commit();
        }
      }
    }
    assertThat(post.database.count("select count(*) from postrider.queue where route < 0"))
        .as("goes to all of them")
        .isEqualTo(1);
  }

  /** As {@code Outbox} sends it: a statement of its own for usual messages. */
  @Test
  void theClientOfProducersLearnsItToo() throws Exception {
    post.send("orders", null);
    for (boolean keyed : new boolean[] {false, true}) {
      try (Connection connection = post.database.dataSource().getConnection()) {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        connection.createStatement().execute("select count(*) from pg_class");
        subscriptions.add("ann", keyed ? AUDIT : MAIL);
        NewMessage.Builder message = NewMessage.to("shop", "orders").json("{}");
        NewMessage sent = keyed ? message.key("k").build() : message.build();
        if (keyed) {
          new Outbox().enqueue(connection, sent);
        } else {
          assertThatThrownBy(() -> new Outbox().enqueue(connection, sent))
              .hasStackTraceContaining("could not serialize access");
        }
      }
    }
  }

  @Test
  void aChangeIsOnTheDiskWhenItIsReported() throws Exception {
    subscriptions.add("ann", MAIL);
    try (Connection connection = post.database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      for (String act : List.of("subscription_remove", "subscription_add")) {
        post.send("orders", null);
        statement.execute("select postrider." + act + "('ann', 'shop', 'orders', 'mail')");
        try (var row = statement.executeQuery("show synchronous_commit")) {
          row.next();
          assertThat(row.getString(1)).as(act).isEqualTo("on");
        }
        connection.commit();
      }
    }
  }

  @Test
  void whatIsEnqueuedAfterTheStartOfARelayIsForItsSubscriptions() {
    for (int round = 0; round < 5; round++) {
      String topic = "t" + round;
      post.start(
          post.builder()
              .destination("here", taking("here"))
              .destination("copy", taking("copy"))
              .route("shop", topic, "here")
              .subscription("shop", topic, "copy", "copy"));
      UUID id = post.send(topic, null);
      await().until(() -> at("here").contains(id));
      await().until(() -> at("copy").contains(id));
    }
  }

  /** Each settles a message by its id. */
  @Test
  void aWorkerOfTheLeaseStoreTakesOneSubscriptionOfATopic() throws Exception {
    subscriptions.add("ann", MAIL);
    Route orders = MAIL.withoutSubscription();
    UUID id = post.send("orders", "k");
    LeaseStore one = new LeaseStore(post.database.dataSource(), Schema.DEFAULT, "one");
    LeaseStore other = new LeaseStore(post.database.dataSource(), Schema.DEFAULT, "other");
    Duration lease = Duration.ofMinutes(1);
    assertThat(one.claim(List.of(orders), 10, lease)).hasSize(1);
    assertThatThrownBy(() -> one.claim(List.of(MAIL), 10, lease))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("another worker name");
    assertThat(other.claim(List.of(MAIL), 10, lease)).hasSize(1);
    assertThatThrownBy(() -> other.claim("shop", 10, lease))
        .hasMessageContaining("another worker name");
    assertThatThrownBy(
            () ->
                new LeaseStore(post.database.dataSource(), Schema.DEFAULT, "third")
                    .claim(List.of(orders, MAIL), 10, lease))
        .hasMessageContaining("another worker name");
    assertThat(one.ack(id)).isTrue();
    assertThat(post.state(id)).isEqualTo("processing");
    assertThat(other.ack(id)).isTrue();
    assertThat(post.state(id)).isEqualTo("delivered");
  }

  @Test
  void twoOfOneWorkerAreNotMixedUp() throws Exception {
    subscriptions.add("ann", MAIL);
    UUID id = post.send("orders", "k");
    Duration lease = Duration.ofMinutes(1);
    LeaseStore store = new LeaseStore(post.database.dataSource(), Schema.DEFAULT, "one");
    LeaseStore twin = new LeaseStore(post.database.dataSource(), Schema.DEFAULT, "one");
    store.claim(List.of(MAIL.withoutSubscription()), 10, lease);
    twin.claim(List.of(MAIL), 10, lease);
    assertThatThrownBy(() -> store.ack(id)).hasStackTraceContaining("for two subscriptions");
    assertThatThrownBy(() -> twin.renewLease(id, lease))
        .hasStackTraceContaining("for two subscriptions");
    assertThat(post.state(id)).isEqualTo("processing");
  }

  @Test
  void aConflictNamesTheSubscription() throws Exception {
    subscriptions.add("ann", MAIL);
    UUID id = post.send("orders", "k");
    post.database.execute(
        "select postrider.fan_out(array(select id from postrider.route), 100, '{}')");
    post.database.execute(
        """
        select postrider.settle(1, array['%s'::uuid], array[0::bigint], array[1::smallint],
                 p_route => array(select id from postrider.route where subscription = 'mail'))
        """
            .formatted(id));
    assertThat(
            post.database.column(
                "select state || ' ' || subscription || ' ' || error from"
                    + " postrider.attempt_history"))
        .containsExactly("CONFLICT mail found pending");
    assertThat(
            post.database.column(
                "select subscription from postrider.delivery_state order by subscription"))
        .containsExactly("", "mail");
  }

  @Test
  void itStartsFromAMessage() throws Exception {
    List<UUID> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(post.send("orders", "k"));
    }
    startDefault();
    await().until(() -> at("here").size() == 5);
    Long job = subscriptions.add("ann", MAIL, all.get(2));
    assertThat(job).isNotNull();
    replay.run("ann", job, Pacer.unlimited(), progress -> true);
    startAll();
    await().until(() -> at("mail").size() == 3);
    post.untilEmpty();
    assertThat(at("mail")).containsExactlyElementsOf(all.subList(2, 5));
    assertThatThrownBy(() -> subscriptions.add("ann", AUDIT, UUID.randomUUID()))
        .hasMessageContaining("UUIDv7");
  }

  private void startDefault() {
    post.start(post.builder().destination("here", taking("here")).route("shop", "*", "here"));
  }

  @Test
  void whatWaitsForARemovedOneIsDiscarded() throws Exception {
    subscriptions.add("ann", MAIL);
    startDefault();
    UUID waiting = post.send("orders", "k");
    post.send("orders", "k", 2);
    post.send("orders", null, 3);
    await().until(() -> at("here").size() == 6);
    assertThatThrownBy(() -> subscriptions.discard("ann", MAIL, "why", count -> true))
        .hasMessageContaining("remove it first");
    assertThat(subscriptions.remove("ann", MAIL)).isTrue();
    assertThat(subscriptions.discard("ann", MAIL, "not needed", count -> true)).isEqualTo(6);
    post.untilEmpty();
    assertThat(
            post.database.column(
                "select distinct subscription || ' ' || state from postrider.delivery_state"
                    + " where id = '"
                    + waiting
                    + "' order by 1"))
        .as("nobody says that it was delivered")
        .containsExactly(" delivered", "mail dead");
    assertThat(
            post.database.count(
                "select count(*) from postrider.settled(array(select id from postrider.message))"))
        .as("retention may remove them")
        .isEqualTo(6);
    assertThat(
            post.database.column(
                "select count || ' ' || (detail ->> 'subscription') from postrider.audit"
                    + " where action = 'subscription.discard'"))
        .containsExactly("6 mail");
    DeadLetters dead = new DeadLetters(post.database.dataSource(), Schema.DEFAULT);
    assertThat(dead.list(DeadLetterFilter.all(), false, null, 10).items()).isEmpty();
  }

  /** The default one was not there when it was sent. */
  @Test
  void aReplayLeavesOutWhatTheDefaultOneNeverHad() throws Exception {
    Route orders = MAIL.withoutSubscription();
    subscriptions.add("ann", MAIL);
    startAll();
    UUID first = post.send("orders", "k");
    await().until(() -> at("here").contains(first) && at("mail").contains(first));
    post.untilEmpty();
    assertThat(subscriptions.remove("ann", orders)).isTrue();
    UUID without = post.send("orders", "k");
    await().until(() -> at("mail").contains(without));
    post.untilEmpty();
    assertThat(subscriptions.add("ann", orders)).isTrue();
    Long job = replay.start("ann", ReplayFilter.namespace("shop").with("topic", "orders")).id();
    assertThat(replay.run("ann", job, Pacer.unlimited(), progress -> true).requeued()).isEqualTo(2);
    await().until(() -> at("mail").size() == 4);
    post.untilEmpty();
    assertThat(at("here")).containsExactly(first, first);
  }

  @Test
  void aReplayOfARemovedOneEndsWithIt() throws Exception {
    startDefault();
    post.send("orders", "k", 3);
    await().until(() -> at("here").size() == 3);
    Long job = subscriptions.add("ann", MAIL, Instant.EPOCH);
    assertThat(job).isNotNull();
    subscriptions.remove("ann", MAIL);
    assertThat(replay.find(job).orElseThrow().state().name()).isEqualTo("DONE");
    Long again = subscriptions.add("ann", MAIL, Instant.EPOCH);
    assertThat(again).isNotNull();
    replay.resume("ann", job);
    replay.run("ann", job, Pacer.unlimited(), progress -> true);
    assertThat(catchingUp()).as("the old replay ends nothing").isTrue();
    assertThat(replay.run("ann", again, Pacer.unlimited(), progress -> true).requeued())
        .isEqualTo(3);
    assertThat(catchingUp()).isFalse();
  }

  /** A caller that died leaves a state that says what to do. */
  @Test
  void manyThatWaitForTheirTurnAreDiscardedInSteps() throws Exception {
    post.send("orders", "k");
    Long job = subscriptions.add("ann", MAIL, Instant.EPOCH);
    assertThat(job).isNotNull();
    for (int i = 0; i < 3; i++) {
      post.database.execute(
          "select count(postrider.enqueue('shop', 'orders', '{}')) from generate_series(1, 4000)");
      post.database.execute(
          "select postrider.fan_out(array(select id from postrider.route), 100000, '{}')");
    }
    assertThat(subscriptions.remove("ann", MAIL, true)).isTrue();
    assertThat(subscriptions.discard("ann", MAIL, "not needed", count -> false)).isEqualTo(5_000);
    assertThat(catchingUp()).isTrue();
    assertThatThrownBy(() -> subscriptions.add("ann", MAIL)).hasMessageContaining("discard");
    assertThat(subscriptions.remove("ann", MAIL, true)).as("removed already").isFalse();
    assertThat(subscriptions.discard("ann", MAIL, "not needed", count -> true)).isEqualTo(7_000);
    assertThat(catchingUp()).isFalse();
    assertThat(post.database.count("select count(*) from postrider.queue where route < 0"))
        .isZero();
    assertThat(subscriptions.add("ann", MAIL)).isTrue();
  }
}

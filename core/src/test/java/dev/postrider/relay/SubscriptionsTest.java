package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.destination.Destination;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.Route;
import dev.postrider.operations.Subscriptions;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.schema.Schema;
import dev.postrider.testrules.NoSecondChance;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One message, several destinations, each with its own progress. */
@Tag("EN-23")
@Timeout(120)
@NoSecondChance
class SubscriptionsTest {
  private static final Route MAIL = new Route("shop", "orders", "mail");

  @AutoClose private final Post post = new Post();
  private final Map<String, List<Message>> arrived = new ConcurrentHashMap<>();
  private final Set<String> failing = ConcurrentHashMap.newKeySet();

  private List<Message> at(String name) {
    return arrived.computeIfAbsent(name, n -> Collections.synchronizedList(new ArrayList<>()));
  }

  private List<UUID> ids(String name) {
    List<Message> list = at(name);
    synchronized (list) {
      return list.stream().map(Message::id).toList();
    }
  }

  private List<Long> sequences(String name, String key) {
    List<Message> list = at(name);
    synchronized (list) {
      return list.stream().filter(m -> key.equals(m.key())).map(Message::sequence).toList();
    }
  }

  /** Records what it takes; refuses messages of the keys in `failing`, as name/key. */
  private Destination taking(String name) {
    return HandlerDestination.inline(
        message -> {
          if (failing.contains(name + "/" + message.key())) {
            return Outcome.terminal("refused", "by the test");
          }
          at(name).add(message);
          return Outcome.delivered();
        });
  }

  private Relay.Builder builder(String... named) {
    Relay.Builder builder =
        post.builder().destination("here", taking("here")).route("shop", "*", "here");
    for (String name : named) {
      builder
          .destination(name, taking(name))
          .subscription("shop", "orders", name, name, blocking());
    }
    return builder;
  }

  private static RouteOptions blocking() {
    return RouteOptions.DEFAULT.withRetry(
        RetryPolicy.DEFAULT.withOnDead(RetryPolicy.DeadPolicy.BLOCK));
  }

  /** Starts a relay and waits until its subscriptions are there. */
  private Relay start(String... named) {
    Relay relay = post.start(builder(named));
    await()
        .until(
            () ->
                post.database.count("select count(*) from postrider.subscription where name <> ''")
                    >= named.length);
    return relay;
  }

  private boolean add(String name) {
    return post.database
        .value("select postrider.subscription_add('ann', 'shop', 'orders', '" + name + "')")
        .equals("t");
  }

  private boolean remove(String name) {
    return post.database
        .value("select postrider.subscription_remove('ann', 'shop', 'orders', '" + name + "')")
        .equals("t");
  }

  private void untilAllHave(int count, String... names) {
    for (String name : names) {
      await().until(() -> new HashSet<>(ids(name)).size() == count);
    }
    post.untilEmpty();
  }

  @Test
  void eachGetsEveryMessageOnceAndInOrder() {
    start("mail", "audit");
    List<UUID> sent = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      sent.addAll(post.send("orders", "k" + i % 5, 10));
      sent.addAll(post.send("orders", null, 10));
    }
    untilAllHave(400, "here", "mail", "audit");
    for (String name : List.of("here", "mail", "audit")) {
      assertThat(ids(name)).as(name).containsExactlyInAnyOrderElementsOf(sent);
      for (int k = 0; k < 5; k++) {
        assertThat(sequences(name, "k" + k)).as(name).isSorted().hasSize(40);
      }
    }
    assertThat(at("mail")).extracting(Message::route).containsOnly(MAIL);
    assertThat(post.database.count("select count(*) from postrider.message")).isEqualTo(400);
    assertThat(
            post.database.column(
                "select distinct subscription from postrider.attempt_history order by 1"))
        .containsExactly("", "audit", "mail");
  }

  @Test
  void otherTopicsAreAsBefore() {
    start("mail");
    UUID bill = post.send("bills", "k");
    await().until(() -> ids("here").contains(bill));
    post.untilEmpty();
    assertThat(at("mail")).isEmpty();
    assertThat(post.database.count("select count(*) from postrider.attempt")).isEqualTo(1);
  }

  @Test
  void aKeyIsBlockedInItsSubscriptionOnly() throws Exception {
    failing.add("mail/k");
    start("mail");
    List<UUID> sent = post.send("orders", "k", 5);
    List<UUID> free = post.send("orders", "free", 5);
    await().until(() -> ids("here").containsAll(sent) && ids("mail").containsAll(free));
    await().until(() -> post.state(sent.get(0)).equals("dead"));
    assertThat(sequences("here", "k")).containsExactly(1L, 2L, 3L, 4L, 5L);
    assertThat(sequences("mail", "k")).isEmpty();
    assertThat(post.state(sent.get(1))).isEqualTo("pending");
    assertThat(
            post.database.column(
                "select subscription || ' ' || state from postrider.delivery_state where id = '"
                    + sent.get(0)
                    + "' order by subscription"))
        .containsExactly(" delivered", "mail dead");

    BlockedKeys keys = new BlockedKeys(post.database.dataSource(), Schema.DEFAULT);
    assertThat(keys.list(null, 10)).singleElement().extracting("route").isEqualTo(MAIL);
    assertThat(keys.retry("ann", "shop", "k")).as("the default subscription").isFalse();
    failing.clear();
    assertThat(keys.retry("ann", MAIL, "k")).isTrue();
    await().until(() -> sequences("mail", "k").equals(List.of(1L, 2L, 3L, 4L, 5L)));
    post.untilEmpty();
    assertThat(sequences("here", "k")).as("delivered once").hasSize(5);
    assertThat(post.state(sent.get(0))).isEqualTo("delivered");
  }

  @Test
  void deadLettersNameTheirSubscription() throws Exception {
    failing.addAll(Set.of("mail/k", "here/k"));
    start("mail");
    UUID id = post.send("orders", "k");
    DeadLetters dead = new DeadLetters(post.database.dataSource(), Schema.DEFAULT);
    await()
        .until(
            () ->
                post.database.count(
                        "select count(*) from postrider.dead_letter where resolved_at is null")
                    == 2);
    assertThat(dead.list(dev.postrider.deadletter.DeadLetterFilter.all(), false, null, 10).items())
        .extracting(letter -> letter.route().subscription())
        .containsExactlyInAnyOrder("", "mail");
    failing.clear();
    assertThat(dead.requeue("ann", id, MAIL)).isTrue();
    await().until(() -> ids("mail").contains(id));
    assertThat(post.state(id)).as("dead in the default subscription").isEqualTo("dead");
    assertThat(dead.discard("ann", "not needed", id)).isTrue();
    assertThat(ids("here")).isEmpty();
  }

  @Test
  void aPausedSubscriptionDelaysNoOther() {
    start("mail");
    post.send("orders", "k", 3);
    untilAllHave(3, "here", "mail");
    post.database.execute(
        "select postrider.pause_on('ann', 'subscription', 'shop/orders#mail');"
            + " select pg_notify('postrider', 'pause')");
    await()
        .until(
            () -> {
              // Relays read pauses every second.
              int before = ids("mail").size();
              UUID id = post.send("orders", "k");
              await().until(() -> ids("here").contains(id));
              return ids("mail").size() == before && ids("here").size() > before + 5;
            });
    int sent = ids("here").size();
    post.database.execute("select postrider.pause_off('ann', 'subscription', 'shop/orders#mail')");
    untilAllHave(sent, "mail");
    assertThat(sequences("mail", "k"))
        .containsExactlyElementsOf(LongStream.rangeClosed(1, sent).boxed().toList());
  }

  @Test
  void theBorderOfANewSubscriptionIsExactForEachKey() throws Exception {
    Relay relay = start();
    AtomicBoolean going = new AtomicBoolean(true);
    List<CompletableFuture<Void>> producers =
        IntStream.range(0, 4)
            .mapToObj(
                p ->
                    CompletableFuture.runAsync(
                        () -> {
                          for (int i = 0; going.get(); i++) {
                            post.send("orders", "k" + i % 7, 2);
                          }
                        }))
            .toList();
    await().until(() -> ids("here").size() > 200);
    Relay second = post.start(builder("mail"));
    await().until(() -> ids("mail").size() > 200);
    await().ignoreExceptions().until(() -> remove("mail"));
    int removedAt = ids("here").size();
    await().until(() -> ids("here").size() > removedAt + 200);
    going.set(false);
    for (CompletableFuture<Void> producer : producers) {
      producer.get();
    }
    post.untilEmpty();
    assertThat(relay.status().running() && second.status().running()).isTrue();
    for (int k = 0; k < 7; k++) {
      List<Long> all = sequences("here", "k" + k);
      assertThat(all)
          .containsExactlyElementsOf(LongStream.rangeClosed(1, all.size()).boxed().toList());
      List<Long> mail = sequences("mail", "k" + k);
      assertThat(mail).isNotEmpty();
      assertThat(mail)
          .as("no hole, in order")
          .containsExactlyElementsOf(
              LongStream.range(mail.get(0), mail.get(0) + mail.size()).boxed().toList());
      assertThat(mail.get(0)).isGreaterThan(1);
      assertThat(mail.get(mail.size() - 1)).isLessThan(all.size());
    }
  }

  @Test
  void relaysWithDifferentConfigurationsServeTheUnion() {
    post.start(builder("mail"));
    post.start(
        post.builder()
            .destination("audit", taking("audit"))
            .subscription("shop", "orders", "audit", "audit"));
    await()
        .until(
            () ->
                post.database.count("select count(*) from postrider.subscription where name <> ''")
                    == 2);
    List<UUID> sent = post.send("orders", "k", 50);
    untilAllHave(50, "here", "mail", "audit");
    assertThat(ids("audit")).containsExactlyElementsOf(sent);
  }

  @Test
  void aTopicMayHaveNamedSubscriptionsOnly() {
    assertThat(add("mail")).isTrue();
    assertThat(add("audit")).isTrue();
    assertThat(remove("")).isTrue();
    start("mail", "audit");
    post.send("orders", "k", 20);
    post.send("orders", null, 20);
    untilAllHave(40, "mail", "audit");
    assertThat(at("here")).isEmpty();
  }

  @Test
  void aNewSubscriptionCatchesUpByReplay() throws Exception {
    start();
    post.send("orders", "k", 30);
    untilAllHave(30, "here");
    post.start(builder("mail"));
    await().until(() -> post.database.count("select count(*) from postrider.subscription") > 1);
    Replay replay = new Replay(post.database.dataSource(), Schema.DEFAULT);
    var job =
        replay.start(
            "ann",
            ReplayFilter.namespace("shop").with("topic", "orders").with("subscription", "mail"));
    assertThat(replay.run("ann", job.id(), Pacer.perSecond(10_000), state -> true).requeued())
        .isEqualTo(30);
    untilAllHave(30, "mail");
    assertThat(sequences("mail", "k")).isSorted();
    assertThat(ids("here")).as("not replayed there").hasSize(30);
  }

  @Test
  void delayedMessagesKeepTheirTimeAndOrder() {
    start("mail");
    Instant later = Instant.now().plus(Duration.ofHours(1));
    post.send(
        List.of(
            NewMessage.to("shop", "orders").key("k").json("{}").notBefore(later).build(),
            NewMessage.to("shop", "orders").key("k").json("{}").build(),
            NewMessage.to("shop", "orders").key("free").json("{}").build()));
    await().until(() -> ids("here").size() == 1 && ids("mail").size() == 1);
    assertThat(sequences("mail", "k")).isEmpty();
    post.makeDue();
    untilAllHave(3, "here", "mail");
    assertThat(sequences("mail", "k")).containsExactly(1L, 2L);
    assertThat(sequences("here", "k")).containsExactly(1L, 2L);
  }

  @Test
  void aMessageIsKeptUntilAllItsDeliveriesAreDone() {
    failing.add("mail/k");
    start("mail");
    UUID id = post.send("orders", "k");
    await().until(() -> ids("here").contains(id) && post.state(id).equals("dead"));
    String settled = "select count(*) from postrider.settled(array['" + id + "'::uuid])";
    assertThat(post.database.count(settled)).isZero();
    post.database.execute(
        "select postrider.discard_dead('ann', 'no', '{}', array['" + id + "'::uuid], 10)");
    assertThat(post.database.count(settled)).isEqualTo(1);
  }

  @Test
  void aTopicWithoutARelayIsNoticedBeforeItIsFannedOut() throws Exception {
    Relay relay =
        post.start(
            post.builder().destination("here", taking("here")).route("shop", "bills", "here"));
    assertThat(add("mail")).isTrue();
    post.send("orders", "k");
    Fleet fleet = new Fleet(post.database.dataSource(), Schema.DEFAULT);
    await().until(() -> fleet.read().unrouted().equals(List.of(new Route("shop", "orders"))));
    assertThat(relay.status().running()).isTrue();
  }

  /** Its topic has too long a name, which the database refuses. */
  @Test
  void oneThatIsRefusedDoesNotStopTheOthers() {
    post.start(
        post.builder()
            .destination("here", taking("here"))
            .subscription("shop", "t".repeat(201), "mail", "here")
            .subscription("shop", "orders", "mail", "here"));
    await()
        .until(
            () ->
                post.database
                    .column("select topic from postrider.subscription where name = 'mail'")
                    .contains("orders"));
    UUID id = post.send("orders", "k");
    await().until(() -> ids("here").contains(id));
  }

  @Test
  void theDefaultOneMayBeCalledByItsName() throws Exception {
    Subscriptions subscriptions = new Subscriptions(post.database.dataSource(), Schema.DEFAULT);
    post.start(
        post.builder()
            .destination("here", taking("here"))
            .destination("mail", taking("mail"))
            .subscription("shop", "orders", "default", "here")
            .subscription("shop", "orders", "mail", "mail"));
    UUID id = post.send("orders", "k");
    await().until(() -> ids("here").contains(id) && ids("mail").contains(id));
    assertThat(subscriptions.remove("ann", new Route("shop", "orders", "default"))).isTrue();
    assertThat(subscriptions.add("ann", new Route("shop", "orders", "default"))).isTrue();
    assertThat(subscriptions.list())
        .filteredOn(Subscriptions.Subscription::active)
        .extracting(each -> each.route().subscription())
        .containsExactlyInAnyOrder("", "mail");
  }

  private Relay.Builder named(String name) {
    return post.builder()
        .destination("here", taking("here"))
        .subscription("shop", "orders", name, "here");
  }

  @Test
  void aRelayAndTheDatabaseRefuseTheSameNames() {
    for (String name : List.of("a", "9", "A.b-c_9", "x".repeat(100))) {
      named(name).build().close();
      assertThat(add(name)).as(name).isTrue();
    }
    for (String name : List.of("a b", "-a", ".", "a#b", "ä", "a\n", "x".repeat(101))) {
      assertThatThrownBy(() -> add(name)).as(name).rootCause().hasMessageContaining("name of a");
      assertThatThrownBy(() -> named(name).build())
          .as(name)
          .isInstanceOf(PostriderException.class)
          .hasMessageContaining("letters, digits, dots");
    }
  }

  @Test
  void badInputIsRefused() {
    post.send("orders", null);
    assertThat(add("mail")).isTrue();
    assertThat(add("mail")).isFalse();
    assertThatThrownBy(() -> add("a b")).rootCause().hasMessageContaining("letters, digits");
    assertThatThrownBy(() -> add("default"))
        .rootCause()
        .hasMessageContaining("choose another name");
    assertThat(remove("")).isTrue();
    assertThatThrownBy(() -> remove("mail"))
        .rootCause()
        .hasMessageContaining("would have no subscription left");
    assertThatThrownBy(
            () ->
                post.builder()
                    .destination("here", taking("here"))
                    .subscription("shop", "*", "mail", "here")
                    .build())
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("no exact topic");
  }
}

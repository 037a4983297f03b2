package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import dev.postrider.operations.Subscriptions;
import dev.postrider.schema.Schema;
import dev.postrider.testrules.NoSecondChance;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A discard for a removed default subscription. Messages that are not fanned out yet are queued
 * under the number of the topic, as those of the default subscription are under its positive one.
 */
@Tag("EN-23")
@Timeout(120)
@NoSecondChance
class SubscriptionDiscardTest {
  private static final Route ORDERS = new Route("shop", "orders");
  private static final Route MAIL = new Route("shop", "orders", "mail");
  private static final Route AUDIT = new Route("shop", "orders", "audit");

  @AutoClose private final Post post = new Post();
  private final Map<String, List<UUID>> arrived = new ConcurrentHashMap<>();
  private final Subscriptions subscriptions =
      new Subscriptions(post.database.dataSource(), Schema.DEFAULT);

  @BeforeEach
  void addNamed() throws Exception {
    subscriptions.add("ann", MAIL);
    subscriptions.add("ann", AUDIT);
  }

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

  private void startNamed() {
    Relay.Builder builder = post.builder();
    for (String name : List.of("mail", "audit")) {
      builder.destination(name, taking(name)).subscription("shop", "orders", name, name);
    }
    post.start(builder);
  }

  private List<UUID> send() {
    List<UUID> sent = new ArrayList<>(post.send("orders", "k", 3));
    sent.addAll(post.send("orders", null, 3));
    return sent;
  }

  private long pending(Route route) throws Exception {
    return subscriptions.list().stream()
        .filter(each -> each.route().equals(route))
        .findFirst()
        .orElseThrow()
        .pending();
  }

  private void fanOut() {
    post.database.execute(
        "select postrider.fan_out(array(select id from postrider.route), 10000, '{}')");
  }

  @Test
  void itLeavesWhatIsNotFannedOutToTheOthers() throws Exception {
    List<UUID> before = send();
    assertThat(subscriptions.remove("ann", ORDERS)).isTrue();
    List<UUID> after = send();
    assertThat(subscriptions.discard("ann", ORDERS, "no longer used", count -> true)).isEqualTo(6);
    startNamed();
    post.untilEmpty();
    for (String name : List.of("mail", "audit")) {
      assertThat(at(name)).as(name).hasSize(12).containsAll(before).containsAll(after);
    }
    assertThat(
            post.database.column(
                "select distinct m.id from postrider.message m"
                    + " join postrider.dead_letter d on d.message_id = m.id"))
        .containsExactlyInAnyOrderElementsOf(before.stream().map(UUID::toString).toList());
  }

  /** Each step is asked for more; what producers add meanwhile is for the others. */
  @Test
  void itEndsWhileProducersGoOn() throws Exception {
    send();
    subscriptions.remove("ann", ORDERS);
    int[] steps = new int[1];
    long discarded =
        subscriptions.discard(
            "ann",
            ORDERS,
            "no longer used",
            count -> {
              send();
              return ++steps[0] < 20;
            });
    assertThat(discarded).isEqualTo(6);
    assertThat(steps[0]).isLessThan(20);
    assertThat(post.database.column("select count from postrider.audit where count > 0"))
        .containsExactly("6");
  }

  @Test
  void whatIsNotFannedOutIsPendingForTheActiveOnes() throws Exception {
    subscriptions.remove("ann", ORDERS);
    send();
    assertThat(pending(ORDERS)).isZero();
    assertThat(pending(MAIL)).isEqualTo(6);
    subscriptions.remove("ann", AUDIT);
    send();
    assertThat(pending(AUDIT)).as("what was committed before").isEqualTo(6);
    assertThat(pending(MAIL)).isEqualTo(12);
    subscriptions.add("ann", ORDERS);
    send();
    assertThat(pending(ORDERS)).isEqualTo(6);
    fanOut();
    assertThat(pending(ORDERS)).isEqualTo(6);
    assertThat(pending(AUDIT)).isEqualTo(6);
    assertThat(pending(MAIL)).isEqualTo(18);
  }

  /**
   * A message that waits for its turn behind earlier ones is queued under a negative number, too.
   */
  @Test
  void whatWaitsForACatchUpIsPendingAndDiscarded() throws Exception {
    Route late = new Route("shop", "orders", "late");
    send();
    assertThat(subscriptions.add("ann", late, Instant.EPOCH)).isNotNull();
    send();
    assertThat(pending(late)).isEqualTo(6);
    subscriptions.remove("ann", late, true);
    assertThat(pending(late)).isEqualTo(6);
    assertThat(subscriptions.discard("ann", late, "no longer used", count -> true)).isEqualTo(6);
    assertThat(pending(late)).isZero();
    assertThat(pending(MAIL)).isEqualTo(12);
  }

  /** The others' messages are fanned out between, and during, the steps of a discard. */
  @Test
  void aStepKeepsNoRelayFromTheTopic() throws Exception {
    send();
    subscriptions.remove("ann", ORDERS);
    send();
    try (var connection = post.database.transaction();
        var statement = connection.createStatement()) {
      statement.execute(
          "select postrider.subscription_discard('ann', 'why', 'shop', 'orders', '', 100)");
      fanOut();
      assertThat(pending(MAIL)).isEqualTo(12);
      assertThat(post.database.count("select count(*) from postrider.queue where route < 0"))
          .as("not fanned out")
          .isZero();
      connection.commit();
    }
    startNamed();
    post.untilEmpty();
    await().until(() -> at("mail").size() == 12 && at("audit").size() == 12);
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.wake.Wakeup;
import dev.postrider.internal.wake.Wakeup.Reason;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.observe.RelayListener;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a relay does about a notification. */
@Tag("EN-21")
class RingsTest {
  private final TestDatabase database = TestDatabase.create();
  private final Dispatcher dispatcher =
      new Dispatcher(
          "here",
          HandlerDestination.inline(message -> Outcome.delivered()),
          DestinationOptions.DEFAULT,
          RelayListener.NONE);
  private final Routing routing =
      new Routing(
          List.of(
              new RouteBinding(
                  "shop", "orders", "", dispatcher, RetryPolicy.DEFAULT, message -> null)),
          Schema.DEFAULT);
  private final RingOwners owners = new RingOwners("me", Schema.DEFAULT);
  private final Wakeup lead = new Wakeup();
  private final Rings rings = new Rings(routing, owners, lead);
  private int orders;
  private int bills;

  @BeforeEach
  void meetTheTopics() throws Exception {
    orders = (int) database.count("select postrider.intern_route('shop', 'orders')");
    bills = (int) database.count("select postrider.intern_route('shop', 'bills')");
    try (Connection connection = database.dataSource().getConnection()) {
      routing.directory().lookUp(connection, List.of(orders, bills));
    }
  }

  private void hear(int topic) {
    rings.heard(Integer.toString(topic));
  }

  @Test
  void aRingForATopicThatItServesWakesTheLead() {
    hear(orders);
    assertThat(lead.poll()).containsExactly(Reason.NOTIFY);
    assertThat(routing.servesSomething()).isTrue();
    assertThat(routing.unknownRung()).isFalse();
  }

  @Test
  void aRingForAnotherTopicDoesNot() {
    hear(bills);
    assertThat(lead.poll()).isEmpty();
    assertThat(routing.servesSomething()).isFalse();
  }

  @Test
  void aRingForATopicThatItNeverMetMakesItSearch() {
    hear(999);
    assertThat(lead.poll()).containsExactly(Reason.NOTIFY);
    assertThat(routing.unknownRung()).isTrue();
  }

  @Test
  void aRingForAllMakesItSearch() {
    rings.heard("");
    assertThat(lead.poll()).containsExactly(Reason.NOTIFY);
    assertThat(routing.unknownRung()).isTrue();
  }

  /** Any login of the database can send any text. */
  @ParameterizedTest
  @ValueSource(strings = {"pause", "subscriptions", "-1", "1 ", "9999999999", "x'; drop table"})
  void anythingElseMakesItReadRoutesAndPauses(String text) {
    rings.heard(text);
    assertThat(lead.poll()).containsExactly(Reason.CONTROL);
    assertThat(routing.unknownRung()).isFalse();
  }

  @Test
  void ifOthersOwnTheTopicItWaitsAMomentForThem() throws Exception {
    database.execute(
        """
        insert into postrider.worker (name, instance) select 'other/' || g, g from generate_series(1, 60) g;
        insert into postrider.relay (worker, instance, version, host, pid, listens)
        select id, instance, '1', 'h', 1, true from postrider.worker;
        insert into postrider.relay_destination (worker, name, type)
        select id, 'here', 't' from postrider.worker;
        insert into postrider.relay_route (worker, namespace, topic, destination)
        select id, 'shop', 'orders', 'here' from postrider.worker
        """);
    try (Connection connection = database.dataSource().getConnection()) {
      owners.refresh(connection);
    }
    long start = System.nanoTime();
    hear(orders);
    assertThat(lead.await(Duration.ofMinutes(1))).containsExactly(Reason.NOTIFY);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofMillis(250), Duration.ofMinutes(1));
  }
}

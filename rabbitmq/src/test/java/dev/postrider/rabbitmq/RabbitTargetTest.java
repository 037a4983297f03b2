package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.observe.RelayListener;
import dev.postrider.relay.Relay;
import dev.postrider.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A relay and a broker one of whose queues, bindings or exchanges does not work. */
@Tag("EN-17")
class RabbitTargetTest {
  private static final Duration PROMPT = Duration.ofSeconds(20);
  private static final DestinationOptions OPTIONS =
      DestinationOptions.DEFAULT.withBreaker(
          new BreakerOptions(20, Duration.ofMillis(200), Duration.ofSeconds(1)));

  @AutoClose private final TestPostgres database = TestPostgres.start();
  @AutoClose private final TestBroker broker = TestBroker.shared();
  private final String name = TestBroker.unique("targets");
  private final List<String> breakers = new CopyOnWriteArrayList<>();
  private final List<String> targets = new CopyOnWriteArrayList<>();

  /** One queue takes everything of type fine, another what its binding says. */
  @BeforeEach
  void declare() throws Exception {
    broker.channel().exchangeDeclare(name, "topic", true);
    broker.channel().queueDeclare(name, true, false, false, Map.of());
    broker.channel().queueBind(name, name, "order.fine");
  }

  private Relay relay(String exchange) {
    return Relay.builder(database.dataSource())
        .destination(
            "rabbit",
            RabbitDestination.open(RabbitConfig.to(broker.broker()).exchange(exchange).build()),
            OPTIONS)
        .route("shop", "*", "rabbit")
        .listener(
            new RelayListener() {
              @Override
              public void breaker(String destination, String state) {
                breakers.add(state);
              }

              @Override
              public void targetBreaker(String destination, String target, String state) {
                targets.add(target + " " + state);
              }
            })
        .build()
        .start();
  }

  private void enqueue(String topic, String type, int count) throws Exception {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          """
          select postrider.enqueue('shop', '%s', '{}', event_type => '%s', aggregate_type => 'order',
                                   aggregate_id => 'o-1')
            from generate_series(1, %d)
          """
              .formatted(topic, type, count));
    }
  }

  private void untilFine(int count) {
    await().atMost(PROMPT).until(() -> broker.ready(name) == count);
  }

  private void untilDelivered(int count) throws Exception {
    String delivered =
        "select count(*) from postrider.message_state where topic = '%s' and state = 'delivered'";
    await().atMost(PROMPT).until(() -> database.count(delivered.formatted(name)) == count);
    assertThat(broker.ready(name)).isGreaterThanOrEqualTo(count);
  }

  private void assertNothingDied() {
    assertThat(breakers).isEmpty();
    assertThat(database.count("select count(*) from postrider.dead_letter")).isZero();
  }

  @Test
  void aFullQueueHoldsUpNoOther() throws Exception {
    String full = TestBroker.unique("full");
    broker
        .channel()
        .queueDeclare(
            full, true, false, false, Map.of("x-max-length", 2, "x-overflow", "reject-publish"));
    broker.channel().queueBind(full, name, "order.full");
    enqueue("orders", "full", 2000);
    enqueue("orders", "fine", 50);
    try (Relay relay = relay(name)) {
      untilFine(50);
      await().until(() -> targets.contains(name + "/order.full open"));
      enqueue("orders", "fine", 50);
      untilFine(100);
      assertThat(relay.status().destinations().get("rabbit").breaker()).isEqualTo("closed");
      assertNothingDied();
    }
  }

  @Test
  void whatNoQueueIsBoundForHoldsUpNoOtherAndArrivesOnceOneIs() throws Exception {
    enqueue("orders", "unbound", 1000);
    enqueue("orders", "fine", 50);
    try (Relay relay = relay(name)) {
      untilFine(50);
      await().until(() -> targets.equals(List.of(name + "/order.unbound open")));
      enqueue("orders", "fine", 50);
      untilFine(100);
      broker.channel().queueBind(name, name, "order.unbound");
      await().atMost(Duration.ofMinutes(1)).until(() -> broker.ready(name) == 1100);
      await().until(() -> relay.status().destinations().get("rabbit").openTargets() == 0);
    }
    assertNothingDied();
  }

  /**
   * RabbitMQ closes a channel over it, with whatever else is on it. What was not confirmed by then
   * is sent again, so some may arrive twice.
   */
  @Test
  void aMissingExchangeHoldsUpNoOther() throws Exception {
    enqueue(TestBroker.unique("missing"), "fine", 300);
    enqueue(name, "fine", 50);
    try (Relay relay = relay("{topic}")) {
      untilDelivered(50);
      await().until(() -> targets.size() == 1);
      enqueue(name, "fine", 50);
      untilDelivered(100);
      assertThat(relay.status().running()).isTrue();
    }
    assertNothingDied();
  }
}

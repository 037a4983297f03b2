package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.GetResponse;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.observe.RelayListener;
import dev.postrider.relay.Relay;
import dev.postrider.testkit.RabbitServer;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testrules.NoSecondChance;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A relay, a database and a broker, with the broker failing under load. */
@NoSecondChance
class RabbitRelayTest {
  private static final int KEYS = 20;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @AutoClose private final TestPostgres database = TestPostgres.start();
  @AutoClose private final RabbitServer server = RabbitServer.start();
  @AutoClose private final TestBroker broker = new TestBroker(server);
  private final List<String> breakerStates = new CopyOnWriteArrayList<>();
  private final Set<UUID> enqueued = new HashSet<>();
  private final List<GetResponse> arrived = new ArrayList<>();

  private Relay relay() {
    DestinationOptions options =
        DestinationOptions.DEFAULT.withBreaker(
            new BreakerOptions(20, Duration.ofMillis(100), Duration.ofSeconds(1)));
    return Relay.builder(database.dataSource())
        .destination(
            "rabbit",
            RabbitDestination.open(
                RabbitConfig.to(broker.broker())
                    .exchange("events")
                    .routingKey("{topic}")
                    .confirmTimeout(Duration.ofSeconds(5))
                    .build()),
            options)
        .route("shop", "*", "rabbit")
        .listener(
            new RelayListener() {
              @Override
              public void breaker(String destination, String state) {
                breakerStates.add(state);
              }
            })
        .build();
  }

  private void enqueue(int count) throws Exception {
    try (Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < count; i++) {
        NewMessage message =
            NewMessage.to("shop", "orders").key("k" + i % KEYS).json("{\"n\": 1}").build();
        enqueued.add(new Outbox().enqueue(connection, message).id());
      }
      connection.commit();
    }
  }

  private long undelivered() {
    return database.count("select count(*) from postrider.queue");
  }

  private void untilDelivered(long left) {
    await().atMost(LIMIT).until(() -> undelivered() <= left);
  }

  /** Everything arrived, and a key's in order if later copies are dropped, as an inbox does. */
  private void assertAllInOrder() throws Exception {
    arrived.addAll(broker.take("events"));
    Set<UUID> ids = new HashSet<>();
    Map<String, Long> last = new HashMap<>();
    for (GetResponse response : arrived) {
      if (ids.add(UUID.fromString(response.getProps().getMessageId()))) {
        Map<String, String> headers = TestBroker.arrival(response).headers();
        long sequence = Long.parseLong(headers.get("x-sequence"));
        Long before = last.put(headers.get("x-key"), sequence);
        assertThat(sequence).isEqualTo(before == null ? 1 : before + 1);
      }
    }
    assertThat(ids).isEqualTo(enqueued);
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "quorum"})
  @Tag("HE-3")
  @Tag("EN-7")
  void aBrokerKilledUnderLoadLosesNothingAndKeepsTheOrder(String type) throws Exception {
    broker.exchangeAndQueue("events", Map.of("x-queue-type", type));
    server.storeDeclarations();
    enqueue(6_000);
    try (Relay relay = relay().start()) {
      for (long left : List.of(5_000L, 3_000L)) {
        untilDelivered(left);
        server.kill();
        assertThat(undelivered()).isPositive();
        server.restart();
      }
      enqueue(100);
      untilDelivered(0);
      assertThat(relay.status().running()).isTrue();
    }
    assertAllInOrder();
  }

  @Test
  @Tag("HE-3")
  @Tag("EN-10")
  void aMemoryAlarmBurnsNoAttempts() throws Exception {
    broker.exchangeAndQueue("events", Map.of());
    try (Relay relay = relay().start()) {
      enqueue(200);
      untilDelivered(0);
      server.control("set_vm_memory_high_watermark", "0.0000001");
      enqueue(2_000);
      await().atMost(LIMIT).until(() -> breakerStates.contains("open"));
      assertThat(undelivered()).isPositive();
      server.control("set_vm_memory_high_watermark", "0.4");
      untilDelivered(0);
      assertThat(relay.status().running()).isTrue();
    }
    assertAllInOrder();
    assertThat(arrived)
        .allMatch(response -> TestBroker.arrival(response).headers().get("x-attempts").equals("1"));
  }
}

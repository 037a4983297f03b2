package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RelayTest {
  private final TestDatabase database = TestDatabase.create();
  private final Outbox outbox = new Outbox();
  private final List<Message> delivered = new CopyOnWriteArrayList<>();

  private Relay relay(RelayConfig config) {
    return Relay.builder(database.dataSource())
        .config(config)
        .destination(
            "here",
            HandlerDestination.inline(
                message -> {
                  delivered.add(message);
                  return Outcome.delivered();
                }))
        .route("shop", "*", "here")
        .build();
  }

  private void enqueue(int count, String key) throws Exception {
    try (Connection connection = database.transaction()) {
      for (int i = 0; i < count; i++) {
        NewMessage.Builder message = NewMessage.to("shop", "orders").json("{\"n\":" + i + "}");
        outbox.enqueue(connection, (key == null ? message : message.key(key)).build());
      }
      connection.commit();
    }
  }

  @Test
  @Tag("EN-7")
  void carriesWhatWasCommitted() throws Exception {
    enqueue(1000, null);
    enqueue(1000, "k");
    try (Relay relay = relay(RelayConfig.defaults()).start()) {
      await().until(() -> delivered.size() == 2000);
      await().until(() -> database.count("select count(*) from postrider.queue") == 0);
    }
    assertThat(delivered.stream().filter(m -> m.key() != null).map(Message::sequence))
        .isSorted()
        .hasSize(1000);
    assertThat(database.count("select count(*) from postrider.lease")).isZero();
    assertThat(database.count("select count(*) from postrider.attempt where state = 1"))
        .isEqualTo(2000);
  }

  @Test
  @Tag("EN-7")
  void makesPartitionsForTheDaysToCome() {
    try (Relay relay = relay(RelayConfig.defaults()).start()) {
      await()
          .until(
              () ->
                  database.count("select count(*) from postrider.partition where not is_default")
                      == 2L * (1 + RelayConfig.defaults().partitionsAhead()));
      assertThat(relay.status().running()).isTrue();
    }
  }
}

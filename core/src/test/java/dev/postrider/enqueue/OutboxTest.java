package dev.postrider.enqueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private final TestDatabase database = TestDatabase.create();
  private final Outbox outbox = new Outbox();

  @Test
  @Tag("EN-1")
  void aCommittedMessageExists() throws Exception {
    Enqueued enqueued;
    try (Connection connection = database.transaction()) {
      enqueued = outbox.enqueue(connection, NewMessage.to("shop", "orders").json("{}").build());
      connection.commit();
    }
    assertThat(
            database.value(
                "select state from postrider.message_state where id = '" + enqueued.id() + "'"))
        .isEqualTo("pending");
  }
}

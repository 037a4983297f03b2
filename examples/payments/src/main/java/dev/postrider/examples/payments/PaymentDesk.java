package dev.postrider.examples.payments;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Takes instructions: the row and its message in one transaction. Thread-safe. */
final class PaymentDesk {
  static final String NAMESPACE = "payments";

  // One row if it is new, or the same as before in every field; none if it differs.
  private static final String RECORD =
      """
      insert into payments.instruction as i
        (id, idempotency_key, participant, rail, amount, currency, destination)
      values (?, ?, ?, ?, ?, ?, ?)
      on conflict (id) do update set id = excluded.id where i = excluded
      """;

  private final DataSource dataSource;
  private final Outbox outbox = new Outbox();

  PaymentDesk(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /**
   * Takes an instruction. The participant is the key, so its instructions go out one after the
   * other on whatever rail; the sequence number comes with the commit. The same instruction again
   * is answered with the first message, and takes no number.
   */
  Enqueued submit(Instruction instruction, String idempotencyKey) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      record(connection, instruction, idempotencyKey);
      Enqueued enqueued =
          outbox.enqueue(
              connection,
              NewMessage.to(NAMESPACE, instruction.rail().topic())
                  .key(instruction.participant())
                  .dedupeKey(instruction.id() + "/" + idempotencyKey)
                  .aggregate("instruction", instruction.id())
                  .json(instruction.json())
                  .build());
      connection.commit();
      return enqueued;
    }
  }

  private static void record(Connection connection, Instruction instruction, String idempotencyKey)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(RECORD)) {
      insert.setString(1, instruction.id());
      insert.setString(2, idempotencyKey);
      insert.setString(3, instruction.participant());
      insert.setString(4, instruction.rail().topic());
      insert.setLong(5, instruction.amount());
      insert.setString(6, instruction.currency());
      insert.setString(7, instruction.destination());
      if (insert.executeUpdate() == 0) {
        throw new IllegalArgumentException(
            "instruction " + instruction.id() + " exists with other contents; give it a new id");
      }
    }
  }
}

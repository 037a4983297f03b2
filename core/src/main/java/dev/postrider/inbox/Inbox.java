package dev.postrider.inbox;

import dev.postrider.error.NoTransactionException;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Makes the effect of a message happen once, however often it arrives: the message's id is recorded
 * in the same transaction as the effect, so both are committed or neither is. While one transaction
 * handles a message, another one with the same message waits for its end. A message that is
 * replayed is still a duplicate here until its row is purged. Thread-safe; the connection is the
 * caller's.
 */
public final class Inbox {
  private static final String FIRST_TIME =
      "insert into postrider.inbox (consumer, message_id) values (?, ?) on conflict do nothing";

  // The caller's search path counts here. The driver calls a string varchar. Compared as that, an
  // operator that somebody else made for text and varchar would be used.
  private static final String FORGET =
      "delete from postrider.inbox where consumer = ?::text and message_id = ?";
  private static final String PASS =
      """
      insert into postrider.inbox_sequence as s (consumer, ordering_key, last_sequence)
      values (?, ?, ?)
      on conflict (consumer, ordering_key) do update
         set last_sequence = excluded.last_sequence, passed_at = now()
       where s.last_sequence < excluded.last_sequence
      """;

  private final String firstTime;
  private final String forget;
  private final String pass;

  /** What a consumer does with a message, on the connection it is given and nothing else. */
  @FunctionalInterface
  public interface Effect<E extends Exception> {
    void apply(Connection connection) throws E, SQLException;
  }

  public Inbox() {
    this(Schema.DEFAULT);
  }

  public Inbox(Schema schema) {
    this.firstTime = schema.sql(FIRST_TIME);
    this.forget = schema.sql(FORGET);
    this.pass = schema.sql(PASS);
  }

  /**
   * Records the message in the caller's transaction. False: it was handled before, skip the effect.
   *
   * @throws NoTransactionException if the connection is in auto-commit mode; nothing is written
   */
  public boolean firstTime(Connection connection, String consumer, UUID messageId)
      throws SQLException {
    NoTransactionException.check(connection, "record the message");
    return update(connection, firstTime, consumer, messageId) == 1;
  }

  /**
   * The same, and refuses a message with a key if one of the same or a higher sequence has passed.
   * A refused message leaves nothing behind. One that an operator sent again is not refused: it was
   * dead and its key went on without it, so it comes late in any case. Its effect happens once,
   * too.
   */
  public InboxResult accept(Connection connection, String consumer, Incoming message)
      throws SQLException {
    if (!firstTime(connection, consumer, message.id())) {
      return InboxResult.DUPLICATE;
    }
    @Nullable String key = message.key();
    if (key == null || update(connection, pass, consumer, key, message.sequence()) == 1) {
      return InboxResult.FIRST;
    }
    if (message.redelivery()) {
      return InboxResult.OUT_OF_ORDER;
    }
    update(connection, forget, consumer, message.id());
    return InboxResult.STALE;
  }

  /**
   * Opens a transaction, does the effect if the message is {@link InboxResult#isNew new}, and
   * commits both. If anything fails both are rolled back, and the message can be handled again.
   */
  public <E extends Exception> InboxResult handle(
      DataSource dataSource, String consumer, Incoming message, Effect<E> effect)
      throws SQLException, E {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        InboxResult verdict = accept(connection, consumer, message);
        if (verdict.isNew()) {
          effect.apply(connection);
        }
        connection.commit();
        return verdict;
      } catch (Throwable failure) {
        rollBack(connection, failure);
        throw failure;
      }
    }
  }

  private static void rollBack(Connection connection, Throwable failure) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }

  private static int update(Connection connection, String sql, Object... arguments)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < arguments.length; i++) {
        statement.setObject(i + 1, arguments[i]);
      }
      return statement.executeUpdate();
    }
  }
}

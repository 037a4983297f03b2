package dev.postrider.enqueue;

import dev.postrider.error.NoTransactionException;
import dev.postrider.internal.jdbc.Advice;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.text.LogLine;
import dev.postrider.message.Enqueued;
import dev.postrider.message.InvalidMessageException;
import dev.postrider.message.JsonCodec;
import dev.postrider.message.NewMessage;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a service leaves its messages: on its own connection, inside its own open transaction. If
 * that commits the message exists, if it rolls back it never did. A thin caller of the SQL function
 * {@code postrider.enqueue}, or of a quicker one for the usual shapes of messages: one round trip a
 * call, two for a duplicate or a new topic. Thread-safe; the connection is the caller's.
 *
 * <p>It leaves nothing behind in the session, so it works behind a pool that hands out a connection
 * for each transaction.
 *
 * <p>A refused message is an error to PostgreSQL like any other: the transaction can then only be
 * rolled back. A caller that wants to go on sets a savepoint before the call and rolls back to it;
 * that costs two more round trips, so it is not done here for everyone.
 *
 * <p>Producers of one ordering key or one dedupe key wait for each other until they commit. Two
 * transactions that enqueue for the keys A, B and B, A can therefore deadlock. PostgreSQL ends one
 * of them, and the call fails with a {@link SQLTransactionRollbackException} (SQLSTATE 40P01) that
 * says what to do: repeat that transaction. To avoid it, enqueue all messages of a transaction in
 * one call, which sorts its locks, or enqueue in sorted order of the keys.
 */
public final class Outbox {
  private static final Logger log = LoggerFactory.getLogger(Outbox.class);

  private static final String ENQUEUE_BATCH =
      "select place, id, sequence, duplicate from postrider.enqueue_batch(?::json)";

  /** The SQLSTATE with which the functions refuse a message. */
  private static final String REFUSED = "PR001";

  private static final String DEADLOCK = "40P01";

  private final Schema schema;
  private final @Nullable JsonCodec codec;
  private final String enqueueBatch;

  /** An outbox in the default schema, for payloads that are text or bytes. */
  public Outbox() {
    this(Schema.DEFAULT);
  }

  /** An outbox in the default schema that also takes objects as payloads. */
  public Outbox(JsonCodec codec) {
    this(Schema.DEFAULT, codec);
  }

  /** An outbox in another schema, for payloads that are text or bytes. */
  public Outbox(Schema schema) {
    this(schema, null);
  }

  /** An outbox in another schema that also takes objects as payloads, if it has a codec. */
  public Outbox(Schema schema, @Nullable JsonCodec codec) {
    this.schema = schema;
    this.codec = codec;
    this.enqueueBatch = schema.sql(ENQUEUE_BATCH);
  }

  /**
   * Enqueues one message. If its dedupe key is known nothing is written, and the answer is the
   * first message's.
   *
   * @throws NoTransactionException if the connection is in auto-commit mode; nothing is written
   * @throws InvalidMessageException if a field is missing or over its limit, or if the codec cannot
   *     write the payload; nothing is written
   * @throws SQLTransactionRollbackException if two transactions wait for each other's keys
   * @throws SQLException from the driver; with SQLSTATE 23505 the caller's own id exists. If the
   *     schema or a privilege is missing, it says what to do
   */
  public Enqueued enqueue(Connection connection, NewMessage message) throws SQLException {
    NoTransactionException.check(connection, "enqueue");
    EnqueueCall call = new EnqueueCall(encoded(message));
    try {
      Enqueued enqueued = null;
      String quick = call.quickSql();
      if (quick != null && keepsPlans(connection)) {
        enqueued = answer(connection, quick, call);
      }
      if (enqueued == null) {
        enqueued = Objects.requireNonNull(answer(connection, call.sql(), call));
      }
      return logged(message, enqueued);
    } catch (SQLException e) {
      throw refusalOr(e, connection);
    }
  }

  private @Nullable Enqueued answer(Connection connection, String sql, EnqueueCall call)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(schema.sql(sql))) {
      Database.limit(statement);
      call.bind(statement);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return EnqueueCall.answer(row);
      }
    }
  }

  /** Older servers plan the quick functions anew in each call, which costs more than they save. */
  private static boolean keepsPlans(Connection connection) throws SQLException {
    return connection.getMetaData().getDatabaseMajorVersion() >= 18;
  }

  /**
   * Enqueues many messages in one call; all or none. Answers come in the order of the messages, and
   * so do the sequence numbers within a key. A refusal says which message it is about.
   */
  public List<Enqueued> enqueue(Connection connection, List<NewMessage> messages)
      throws SQLException {
    NoTransactionException.check(connection, "enqueue");
    if (messages.isEmpty()) {
      return List.of();
    }
    String batch = BatchJson.of(encoded(messages));
    try (PreparedStatement call = connection.prepareStatement(enqueueBatch)) {
      Database.limit(call);
      call.setString(1, batch);
      try (ResultSet rows = call.executeQuery()) {
        @Nullable Enqueued[] answers = new Enqueued[messages.size()];
        while (rows.next()) {
          int place = rows.getInt("place") - 1;
          answers[place] = logged(messages.get(place), enqueued(rows));
        }
        List<Enqueued> list = new ArrayList<>(answers.length);
        Arrays.stream(answers).map(Objects::requireNonNull).forEach(list::add);
        return list;
      }
    } catch (SQLException e) {
      throw refusalOr(e, connection);
    }
  }

  private NewMessage encoded(NewMessage message) {
    Object value = message.content();
    if (value == null) {
      return message;
    }
    if (codec == null) {
      throw new InvalidMessageException(
          "payload",
          "payload is an object (%s), and this outbox has no codec to write it; create it with one,"
                  .formatted(value.getClass().getName())
              + " such as new Outbox(new Jackson3Codec(mapper)), or pass JSON text");
    }
    return codec.encode(message);
  }

  /** Names the message by its place, as the database does. */
  private List<NewMessage> encoded(List<NewMessage> messages) {
    List<NewMessage> encoded = new ArrayList<>(messages.size());
    for (NewMessage message : messages) {
      try {
        encoded.add(encoded(message));
      } catch (InvalidMessageException e) {
        throw new InvalidMessageException(
            e.field(), "message %d: %s".formatted(encoded.size() + 1, e.getMessage()), e);
      }
    }
    return encoded;
  }

  private static Enqueued enqueued(ResultSet row) throws SQLException {
    return new Enqueued(
        row.getObject("id", UUID.class),
        row.getObject("sequence", Long.class),
        row.getBoolean("duplicate"));
  }

  /** Says enqueued, not committed: what the transaction comes to is not known here. */
  private static Enqueued logged(NewMessage message, Enqueued enqueued) {
    if (log.isDebugEnabled()) {
      log.debug(
          "{}",
          LogLine.of("outbox_event_enqueued")
              .put("id", enqueued.id())
              .put("namespace", message.route().namespace())
              .put("topic", message.route().topic())
              .put("event_type", message.eventType())
              .put("sequence", enqueued.sequence())
              .put("duplicate", enqueued.duplicate()));
    }
    return enqueued;
  }

  private SQLException refusalOr(SQLException error, Connection connection) throws SQLException {
    if (REFUSED.equals(error.getSQLState()) && error instanceof PSQLException refusal) {
      ServerErrorMessage server = refusal.getServerErrorMessage();
      if (server != null && server.getMessage() != null && server.getColumn() != null) {
        throw new InvalidMessageException(server.getColumn(), server.getMessage(), error);
      }
    }
    return DEADLOCK.equals(error.getSQLState())
        ? deadlock(error)
        : Advice.on(error, schema, "producer", connection.getMetaData().getUserName());
  }

  private static SQLException deadlock(SQLException error) {
    String advice =
        "enqueue ran into a deadlock: another transaction locks the same ordering or dedupe keys in"
            + " another order. Repeat this transaction. To avoid it, enqueue all messages of a"
            + " transaction in one call, or in sorted order of their keys. ";
    return new SQLTransactionRollbackException(advice + error.getMessage(), DEADLOCK, error);
  }
}

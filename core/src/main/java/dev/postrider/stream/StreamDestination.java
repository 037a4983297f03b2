package dev.postrider.stream;

import dev.postrider.destination.Destination;
import dev.postrider.error.DatabaseError;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.jdbc.HeldConnection;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.schema.Schema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Appends messages to the log that stream clients follow, a batch in one transaction, and wakes
 * whoever follows it on any server. It must be the database that the messages come from. A message
 * whose append was not heard of is appended again, under the same id. The relay's retention removes
 * old events. Thread-safe.
 */
public final class StreamDestination implements Destination {
  private static final String APPEND =
      "select id, event_position from postrider.stream_append(?::uuid[], ?::smallint[])";

  private static final Duration STATEMENT_TIMEOUT = Duration.ofSeconds(10);

  private final HeldConnection held;
  private final Schema schema;
  private final ReentrantLock inUse = new ReentrantLock();
  private volatile boolean closed;

  public StreamDestination(DataSource dataSource, Schema schema) {
    this.held = new HeldConnection(dataSource, STATEMENT_TIMEOUT, connection -> {});
    this.schema = schema;
  }

  @Override
  public void deliver(List<Message> batch, Answers answers) {
    Map<UUID, Outcome> outcomes = new HashMap<>();
    Outcome otherwise =
        Outcome.terminal("not_in_log", "this database has no such message; its id is unknown");
    inUse.lock();
    try {
      if (closed) {
        otherwise = Outcome.unavailable("closed", "the stream destination is closed");
      } else {
        append(batch, outcomes);
      }
    } catch (SQLException e) {
      held.discard();
      otherwise = outcome(e);
    } finally {
      if (closed) {
        held.close();
      }
      inUse.unlock();
    }
    for (Message message : batch) {
      answers.answer(message.id(), outcomes.getOrDefault(message.id(), otherwise));
    }
  }

  private void append(List<Message> batch, Map<UUID, Outcome> outcomes) throws SQLException {
    String deliveries =
        batch.stream()
            .map(message -> Integer.toString(message.delivery()))
            .collect(Collectors.joining(",", "{", "}"));
    session()
        .list(
            APPEND,
            row ->
                outcomes.put(
                    row.getObject("id", UUID.class),
                    Outcome.delivered(row.getString("event_position"))),
            batch.stream().map(Message::id).toList(),
            deliveries);
  }

  private Database.Session session() throws SQLException {
    return Database.Session.on(held.get(), schema);
  }

  /** Only a fault of the statement itself counts against the message. */
  private static Outcome outcome(SQLException error) {
    String text = DatabaseError.text(error);
    return DatabaseError.of(error) == DatabaseError.FATAL
        ? Outcome.retryable("stream_append", text)
        : Outcome.unavailable("stream_append", text);
  }

  /** One log for all. */
  @Override
  public @Nullable String target(Message message) {
    return null;
  }

  /** A batch is one transaction: in its order, all or none. */
  @Override
  public boolean keepsOrder() {
    return true;
  }

  /** Gives the connection back. One that is in use is aborted, so that nobody waits for it. */
  @Override
  public void close() {
    closed = true;
    if (!inUse.tryLock()) {
      held.discard();
      return;
    }
    try {
      held.close();
    } finally {
      inUse.unlock();
    }
  }
}

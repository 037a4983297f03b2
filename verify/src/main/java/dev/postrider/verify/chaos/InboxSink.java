package dev.postrider.verify.chaos;

import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.Incoming;
import dev.postrider.verify.journal.Clock;
import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.Journal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Notes what arrives, and does the effect of each message behind an inbox. Used by one thread. */
final class InboxSink {
  static final String TABLE =
      "create table effect (no bigserial primary key, sink text not null, ref text not null)";

  private final String sink;
  private final Journal journal;
  private final DataSource dataSource;
  private final Inbox inbox = new Inbox();
  private @Nullable Connection connection;

  InboxSink(Scene scene, String sink, Journal journal) {
    this.sink = sink;
    this.journal = journal;
    this.dataSource = scene.dataSource(ConsumerChild.NAME);
  }

  /** A message as it came from a broker. */
  record Received(String ref, Map<String, String> headers) {
    private @Nullable String key() {
      return headers.get("x-key");
    }

    private long number(String header) {
      return Long.parseLong(headers.getOrDefault(header, "0"));
    }

    private Entry.Arrival arrival(long at, String sink) {
      return new Entry.Arrival(
          at,
          sink,
          ref,
          String.valueOf(headers.get("x-event-id")),
          key(),
          number("x-sequence"),
          number("x-fencing-token"));
    }

    private Incoming incoming() {
      String key = key();
      return new Incoming(
          UUID.fromString(headers.getOrDefault("x-event-id", "")),
          key == null ? null : Scene.NAMESPACE + "/" + key,
          number("x-sequence"),
          Boolean.parseBoolean(headers.get("x-redelivery")));
    }
  }

  /** Returns when the effects of all are committed, however long the database is away. */
  void take(List<Received> batch) {
    long now = Clock.micros();
    journal.append(batch.stream().map(received -> received.arrival(now, sink)).toList());
    while (!tryOnce(batch)) {
      LockSupport.parkNanos(50_000_000);
    }
  }

  private boolean tryOnce(List<Received> batch) {
    try {
      Connection open = connect();
      try (PreparedStatement effect =
          open.prepareStatement("insert into effect (sink, ref) values (?, ?)")) {
        for (Received received : batch) {
          if (inbox.accept(open, sink, received.incoming()).isNew()) {
            effect.setString(1, sink);
            effect.setString(2, received.ref());
            effect.executeUpdate();
          }
        }
      }
      open.commit();
      return true;
    } catch (SQLException e) {
      disconnect();
      return false;
    }
  }

  private Connection connect() throws SQLException {
    Connection open = connection;
    if (open == null) {
      open = dataSource.getConnection();
      open.setAutoCommit(false);
      connection = open;
    }
    return open;
  }

  private void disconnect() {
    Connection open = connection;
    connection = null;
    if (open != null) {
      try {
        open.abort(Runnable::run);
      } catch (SQLException e) {
        // It is gone either way.
      }
    }
  }
}

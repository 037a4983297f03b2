package dev.postrider.verify;

import dev.postrider.destination.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;

/**
 * The outside world: a table that notes every delivery as it happens. Whoever holds the advisory
 * lock {@link #GATE} keeps a delivery from returning after its effect. Thread-safe.
 */
final class Effects implements MessageHandler {
  static final int GATE = 4711;
  static final String TABLE =
      "create table effect (no bigserial primary key, id uuid, ordering_key text,"
          + " sequence bigint, relay text, subscription text)";

  private final DataSource dataSource;
  private final String relay;
  private final Queue<Connection> idle = new ConcurrentLinkedQueue<>();

  Effects(DataSource dataSource, String relay) {
    this.dataSource = dataSource;
    this.relay = relay;
  }

  @Override
  public Outcome handle(Message message) throws SQLException {
    Connection spare = idle.poll();
    Connection connection = spare == null ? dataSource.getConnection() : spare;
    try {
      note(connection, message);
      idle.add(connection);
      return Outcome.delivered();
    } catch (SQLException e) {
      connection.abort(Runnable::run);
      return Outcome.unavailable("database", String.valueOf(e.getMessage()));
    }
  }

  private void note(Connection connection, Message message) throws SQLException {
    try (PreparedStatement insert =
            connection.prepareStatement(
                "insert into effect (id, ordering_key, sequence, relay, subscription)"
                    + " values (?, ?, ?, ?, ?)");
        PreparedStatement gate =
            connection.prepareStatement("select pg_advisory_xact_lock_shared(" + GATE + ")")) {
      insert.setObject(1, message.id());
      insert.setString(2, message.key());
      insert.setLong(3, message.sequence());
      insert.setString(4, relay);
      insert.setString(5, message.route().subscription());
      insert.executeUpdate();
      gate.execute();
    }
  }
}

package dev.postrider.internal.jdbc;

import dev.postrider.message.PostriderException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Time limits for a connection through a pooler, which may give the server's session to somebody
 * else after each transaction: nothing may be left in it. Statements are limited by the driver,
 * which cancels them; a transaction that is left open by a setting that ends with it. The latter
 * costs a round trip per transaction, so direct connections have their limits in the session.
 */
final class PooledLimits implements InvocationHandler {
  private final Connection connection;
  private final Duration limit;

  private PooledLimits(Connection connection, Duration limit) {
    this.connection = connection;
    this.limit = limit;
  }

  /**
   * Whether a pooler stands between. A server names its own process when it greets a client, and a
   * pooler something else. If the driver cannot be asked, so it is taken to be.
   */
  static boolean neededFor(Connection connection) throws SQLException {
    if (!connection.isWrapperFor(PGConnection.class)) {
      return true;
    }
    int greeted = connection.unwrap(PGConnection.class).getBackendPID();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
      row.next();
      return row.getInt(1) != greeted;
    }
  }

  /** The same connection, with limits on what is done with it. */
  static Connection on(Connection connection, Duration limit) throws SQLException {
    if (connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED) {
      throw new PostriderException(
          "the session's isolation level is "
              + isolation(connection)
              + ", and behind a pooler it cannot be changed for one client; set"
              + " default_transaction_isolation = 'read committed' for the role or the database");
    }
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            new PooledLimits(connection, limit));
  }

  private static String isolation(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("show transaction_isolation")) {
      row.next();
      return row.getString(1);
    }
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] given)
      throws Throwable {
    @Nullable Object answer;
    try {
      answer = method.invoke(connection, given);
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
    if (answer instanceof Statement statement) {
      statement.setQueryTimeout((int) limit.plusMillis(999).toSeconds());
    } else if (method.getName().equals("setAutoCommit")
        && given != null
        && Boolean.FALSE.equals(given[0])) {
      limitTransaction();
    }
    return answer;
  }

  private void limitTransaction() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "set local idle_in_transaction_session_timeout = %d".formatted(limit.toMillis()));
    }
  }
}

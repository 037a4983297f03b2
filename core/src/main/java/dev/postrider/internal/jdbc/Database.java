package dev.postrider.internal.jdbc;

import dev.postrider.error.DatabaseError;
import dev.postrider.error.RefusedException;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Runs an operator's statements: each in a transaction of its own, never longer than a minute, also
 * if the server is gone without a word, and with a search path where others can put nothing.
 * Thread-safe if the data source is.
 *
 * @param role what follows the schema in the name of the role that the statements need; a login
 *     without it is told
 */
public record Database(DataSource dataSource, Schema schema, String role) {
  private static final int TIMEOUT_SECONDS = 60;

  /** The server gives up first; the socket's limit is for a server that is gone. */
  private static final int NETWORK_EXTRA_SECONDS = 5;

  /** Of a transaction that others undo. */
  private static final int TRIES = 5;

  /** Seconds that this thread was told; 0 if none. */
  private static final ThreadLocal<Integer> LIMIT = ThreadLocal.withInitial(() -> 0);

  /** Whether a server's default is another level is learned with the first refusal. */
  private static final Isolation ISOLATION = new Isolation();

  /** The SQLSTATE with which the functions refuse an act. */
  private static final String REFUSED = "PR002";

  /** May do all that is done here, except for tokens, which are the server's. */
  private static final String OPERATOR = "operator";

  /** For the statements of an operator. */
  public Database(DataSource dataSource, Schema schema) {
    this(dataSource, schema, OPERATOR);
  }

  /**
   * A call of one function of ours, by its full name and without an operator: nothing in it can be
   * taken for something that others made. It goes without the round trips of a fixed search path.
   */
  private static final Pattern CALL =
      Pattern.compile(
          "\\s*select\\s+(?:[a-z0-9_,*\\s]+\\sfrom\\s+)?postrider\\.\\w+"
              + "\\((?:[?,\\s]|::\\w+(?:\\[\\])?)*\\)(?:::text)?\\s*");

  /** Reads one row. */
  @FunctionalInterface
  public interface Row<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** What runs with a shorter limit. */
  @FunctionalInterface
  public interface Work<T> {
    T run() throws Exception;
  }

  /** Statements that are one transaction. */
  @FunctionalInterface
  public interface Transaction<T> {
    T run() throws SQLException;
  }

  /** Repeats a transaction that a deadlock or a conflict with another one has undone. */
  public static <T> T repeated(Transaction<T> transaction) throws SQLException {
    for (int tries = 1; ; tries++) {
      try {
        return transaction.run();
      } catch (SQLException e) {
        if (DatabaseError.of(e) != DatabaseError.CONFLICT || tries == TRIES) {
          throw e;
        }
      }
    }
  }

  /** Runs work in which no statement of this thread may take longer than these whole seconds. */
  public static <T> T within(Duration limit, Work<T> work) throws Exception {
    int before = LIMIT.get();
    LIMIT.set(Math.toIntExact(limit.toSeconds()));
    try {
      return work.run();
    } finally {
      LIMIT.set(before);
    }
  }

  /** Gives a statement on somebody else's connection the limit of {@link #within}, if any. */
  public static void limit(Statement statement) throws SQLException {
    int seconds = LIMIT.get();
    if (seconds > 0) {
      statement.setQueryTimeout(seconds);
    }
  }

  /** A connection for many statements: a new one would plan each of them anew. Close it. */
  public Session open() throws SQLException {
    Connection connection = dataSource.getConnection();
    try {
      // Some pools hand out connections with a transaction open: it would be rolled back at the
      // end.
      connection.setAutoCommit(true);
      int networkTimeout = connection.getNetworkTimeout();
      int seconds = LIMIT.get() > 0 ? LIMIT.get() : TIMEOUT_SECONDS;
      int limit = 1_000 * (seconds + NETWORK_EXTRA_SECONDS);
      if (networkTimeout == 0 || networkTimeout > limit) {
        connection.setNetworkTimeout(Runnable::run, limit);
      }
      return new Session(connection, schema, role, networkTimeout);
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  /** Every row, on a connection of its own. */
  public <T> List<T> list(String sql, Row<T> row, @Nullable Object... arguments)
      throws SQLException {
    try (Session session = open()) {
      return session.list(sql, row, arguments);
    }
  }

  /** The only row, on a connection of its own. */
  public <T> T one(String sql, Row<T> row, @Nullable Object... arguments) throws SQLException {
    try (Session session = open()) {
      return session.one(sql, row, arguments);
    }
  }

  /** A timestamp, null if there is none or it is infinite. */
  public static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
    @Nullable OffsetDateTime at = row.getObject(column, OffsetDateTime.class);
    return at == null || at.equals(OffsetDateTime.MAX) ? null : at.toInstant();
  }

  /** One connection, each statement in a transaction of its own. Not thread-safe. */
  public static final class Session implements AutoCloseable {
    private final Connection connection;
    private final Schema schema;
    private final String role;

    /** What the connection came with, and goes back with: it may belong to a pool. */
    private final int networkTimeout;

    private Session(Connection connection, Schema schema, String role, int networkTimeout) {
      this.connection = connection;
      this.schema = schema;
      this.role = role;
      this.networkTimeout = networkTimeout;
    }

    /** On a connection of your own, which is in auto-commit mode and has its limits. */
    public static Session on(Connection connection, Schema schema) throws SQLException {
      return new Session(connection, schema, OPERATOR, connection.getNetworkTimeout());
    }

    /** Every row. SQL is written for the schema {@code postrider}; arguments may be null. */
    public <T> List<T> list(String sql, Row<T> row, @Nullable Object... arguments)
        throws SQLException {
      boolean fixedPath = !CALL.matcher(sql).matches();
      return ISOLATION.run(connection, fixedPath, () -> rows(sql, row, arguments));
    }

    private <T> List<T> rows(String sql, Row<T> row, @Nullable Object... arguments)
        throws SQLException {
      try (PreparedStatement statement = connection.prepareStatement(schema.sql(sql))) {
        statement.setQueryTimeout(TIMEOUT_SECONDS);
        limit(statement);
        for (int i = 0; i < arguments.length; i++) {
          statement.setObject(i + 1, sqlValue(connection, arguments[i]));
        }
        List<T> found = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            found.add(row.read(rows));
          }
        }
        return found;
      } catch (SQLException e) {
        if (connection.isClosed()) {
          throw e;
        }
        throw refusalOr(Advice.on(e, schema, role, connection.getMetaData().getUserName()));
      }
    }

    /** The only row. */
    public <T> T one(String sql, Row<T> row, @Nullable Object... arguments) throws SQLException {
      List<T> rows = list(sql, row, arguments);
      if (rows.size() != 1) {
        throw new SQLException("expected one row, got " + rows.size() + ": " + schema.sql(sql));
      }
      return rows.get(0);
    }

    @Override
    public void close() throws SQLException {
      try (connection) {
        if (!connection.isClosed()) {
          connection.setNetworkTimeout(Runnable::run, networkTimeout);
        }
      }
    }
  }

  private static @Nullable Object sqlValue(Connection connection, @Nullable Object value)
      throws SQLException {
    if (value instanceof Instant instant) {
      return instant.atOffset(ZoneOffset.UTC);
    } else if (value instanceof List<?> ids) {
      return connection.createArrayOf("uuid", ids.toArray());
    } else if (value instanceof String[] texts) {
      return connection.createArrayOf("text", texts);
    }
    return value;
  }

  private static SQLException refusalOr(SQLException error) {
    if (REFUSED.equals(error.getSQLState()) && error instanceof PSQLException refusal) {
      ServerErrorMessage server = refusal.getServerErrorMessage();
      if (server != null && server.getMessage() != null) {
        throw new RefusedException(server.getMessage(), error);
      }
    }
    return error;
  }
}

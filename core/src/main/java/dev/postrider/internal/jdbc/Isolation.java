package dev.postrider.internal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Runs work in a transaction at READ COMMITTED, which the functions insist on. Where that is the
 * default of the database, as usual, it costs nothing: only after a first refusal the level is set
 * in each transaction. Work that uses operators and functions of the server also has its search
 * path set, so that it finds none that others made. Nothing is set for the session, which may
 * belong to a pooler. Thread-safe.
 */
public final class Isolation {
  /** The SQLSTATE with which the functions refuse another level. */
  private static final String REFUSED = "PR003";

  private static final String LEVEL = "set transaction isolation level read committed";
  private static final String PATH = "set local search_path = pg_catalog, pg_temp";

  private volatile boolean needed;

  /** Work that may be done twice, if the first time was refused. */
  @FunctionalInterface
  public interface Work<T> {
    T run() throws SQLException;
  }

  /** In a transaction of its own, whether the connection is in auto-commit mode or not. */
  public <T> T run(Connection connection, Work<T> work) throws SQLException {
    return run(connection, false, work);
  }

  /** The same; if so told, with a search path that has only the server's own objects. */
  public <T> T run(Connection connection, boolean fixedPath, Work<T> work) throws SQLException {
    try {
      return attempt(connection, fixedPath, work);
    } catch (SQLException e) {
      if (needed || !REFUSED.equals(e.getSQLState())) {
        throw e;
      }
      needed = true;
      return attempt(connection, fixedPath, work);
    }
  }

  private <T> T attempt(Connection connection, boolean fixedPath, Work<T> work)
      throws SQLException {
    boolean auto = connection.getAutoCommit();
    try {
      if (needed || fixedPath) {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
          statement.execute(!fixedPath ? LEVEL : needed ? LEVEL + "; " + PATH : PATH);
        }
      }
      T result = work.run();
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
      return result;
    } catch (SQLException | RuntimeException e) { // a refusal is the latter
      rollback(connection, e);
      throw e;
    } finally {
      if (auto && !connection.isClosed()) {
        connection.setAutoCommit(true);
      }
    }
  }

  private static void rollback(Connection connection, Exception cause) {
    try {
      if (!connection.getAutoCommit()) {
        connection.rollback();
      }
    } catch (SQLException e) {
      cause.addSuppressed(e);
    }
  }
}

package dev.postrider.error;

import dev.postrider.message.PostriderException;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * A write that belongs into the caller's transaction was tried outside one. Nothing was written.
 * Thread-safe.
 */
public final class NoTransactionException extends PostriderException {
  private static final long serialVersionUID = 1L;

  private NoTransactionException(String act) {
    super(
        "the connection is in auto-commit mode, so there is no transaction to "
            + act
            + " in; call connection.setAutoCommit(false) before the business writes and commit"
            + " after them, or open a transaction with your framework (@Transactional)");
  }

  /** Refuses a connection in auto-commit mode; the act is a verb, such as "enqueue". */
  public static void check(Connection connection, String act) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new NoTransactionException(act);
    }
  }
}

package dev.postrider.enqueue;

import dev.postrider.message.PostriderException;
import java.sql.Connection;
import java.sql.SQLException;

/** An enqueue was tried outside a transaction. Nothing was written. */
public final class NoTransactionException extends PostriderException {
  private static final long serialVersionUID = 1L;

  private NoTransactionException() {
    super(
        "the connection is in auto-commit mode, so there is no transaction to enqueue in;"
            + " call connection.setAutoCommit(false) before the business writes and commit after"
            + " the enqueue, or open a transaction with your framework (@Transactional)");
  }

  static void check(Connection connection) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new NoTransactionException();
    }
  }
}

package dev.postrider.lease;

import dev.postrider.error.DatabaseError;
import dev.postrider.message.PostriderException;
import java.sql.SQLException;

/**
 * The database did not do what was asked of it. Whether a repetition may help is in the error.
 * Thread-safe.
 */
public final class StoreException extends PostriderException {
  private static final long serialVersionUID = 1L;
  private final DatabaseError error;

  StoreException(String action, SQLException cause) {
    super(action + " failed in the database: " + cause.getMessage(), cause);
    this.error = DatabaseError.of(cause);
  }

  public DatabaseError error() {
    return error;
  }
}

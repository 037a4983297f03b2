package dev.postrider.error;

import dev.postrider.internal.jdbc.Advice;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientException;
import org.jspecify.annotations.Nullable;

/** The one classifier of database errors, by SQLSTATE, or by class if there is none. Immutable. */
public enum DatabaseError {
  /** The statement ran into its time limit. */
  TIMEOUT,
  /** Connection lost, server restarting, out of resources: the same call may work later. */
  TRANSIENT,
  /** Deadlock or serialization failure: repeat the transaction. */
  CONFLICT,
  /** Anything else: repeating it will not help. */
  FATAL;

  public String label() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }

  public static DatabaseError of(SQLException error) {
    @Nullable String state = error.getSQLState();
    if (state == null || state.length() < 2) {
      return byClass(error);
    }
    return switch (state) {
      case "57014", "55P03", "25P03" -> TIMEOUT;
      case "40001", "40P01" -> CONFLICT;
      case "57P01", "57P02", "57P03", "57P04", "58000", "58030" -> TRANSIENT;
      default ->
          switch (state.substring(0, 2)) {
            case "08", "53" -> TRANSIENT;
            default -> FATAL;
          };
    };
  }

  /** Pools have no SQLSTATE for a connection that was not to be had in time. */
  private static DatabaseError byClass(SQLException error) {
    if (error instanceof SQLTimeoutException) {
      return TIMEOUT;
    }
    return error instanceof SQLTransientException || error instanceof SQLRecoverableException
        ? TRANSIENT
        : FATAL;
  }

  /**
   * What logs and callers without the right to read payloads may see of it: the first line, and the
   * advice that {@link Advice} has added. The server's detail quotes rows.
   */
  public static String text(SQLException error) {
    String message = String.valueOf(error.getMessage());
    String first = message.lines().findFirst().orElse("").replaceFirst("^ERROR: ", "");
    return error.getCause() instanceof SQLException cause
            && message.startsWith(String.valueOf(cause.getMessage()))
        ? first + message.substring(String.valueOf(cause.getMessage()).length())
        : first;
  }

  /** Whether the connection is of no further use. */
  public boolean connectionLost() {
    return this == TRANSIENT;
  }
}

package dev.postrider.message;

import org.jspecify.annotations.Nullable;

/** A message was refused before anything was written. Thread-safe. */
public final class InvalidMessageException extends PostriderException {
  private static final long serialVersionUID = 1L;
  private final String field;

  public InvalidMessageException(String field, String message) {
    this(field, message, null);
  }

  public InvalidMessageException(String field, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.field = field;
  }

  /** The field at fault, by its name in the SQL function. */
  public String field() {
    return field;
  }
}

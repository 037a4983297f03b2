package dev.postrider.error;

import dev.postrider.message.PostriderException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if an operator's action is refused. The message says what was expected. Nothing changed.
 * Thread-safe.
 */
public final class RefusedException extends PostriderException {
  private static final long serialVersionUID = 1L;

  public RefusedException(String message) {
    this(message, null);
  }

  public RefusedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** Returns the value, which must not be blank. */
  public static String ifBlank(String name, String value) {
    if (value.isBlank()) {
      throw new RefusedException(name + " is blank; it is mandatory");
    }
    return value;
  }
}

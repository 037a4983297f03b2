package dev.postrider.message;

import org.jspecify.annotations.Nullable;

/** The base of every exception that Postrider throws on its own account. Thread-safe. */
public class PostriderException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public PostriderException(String message) {
    super(message);
  }

  public PostriderException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

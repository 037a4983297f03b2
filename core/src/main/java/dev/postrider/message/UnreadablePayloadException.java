package dev.postrider.message;

import org.jspecify.annotations.Nullable;

/** The payload of a message is not what its reader expects. Thread-safe. */
public final class UnreadablePayloadException extends PostriderException {
  private static final long serialVersionUID = 1L;

  public UnreadablePayloadException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

package dev.postrider.spring;

import dev.postrider.message.PostriderException;
import org.jspecify.annotations.Nullable;

/** The application cannot start as it is configured; says what to do. */
final class StartException extends PostriderException {
  private static final long serialVersionUID = 1L;

  private final String action;

  StartException(String description, String action) {
    this(description, action, null);
  }

  StartException(String description, String action, @Nullable Throwable cause) {
    super(description, cause);
    this.action = action;
  }

  String action() {
    return action;
  }
}

package dev.postrider.embedded;

import java.io.IOException;

/** A file or folder that another user owns or may write to. */
public final class ForeignFileException extends IOException {
  private static final long serialVersionUID = 1L;

  ForeignFileException(String message) {
    super(message);
  }
}

package dev.postrider.archive;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * An archive file could not be stored. The message says where, why and what to do. The messages of
 * that file are still in the database. Thread-safe.
 */
public final class ArchiveStorageException extends IOException {
  private static final long serialVersionUID = 1L;

  public ArchiveStorageException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

package dev.postrider.archive;

import dev.postrider.internal.archive.Archive;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Where archive files go. {@link Archive} removes messages from the database as soon as {@link
 * Draft#publish} has returned, so a file must be durable by then.
 *
 * <p>Implementations are thread-safe. Failures that an operator can do something about are {@link
 * ArchiveStorageException}s.
 */
public interface ArchiveStorage extends AutoCloseable {
  /**
   * Gets ready for a run: creates what is missing and removes drafts that a crashed run has left.
   * No other run uses this storage for the same database at that time.
   */
  void prepare() throws IOException;

  /** Starts a file. Nobody sees it before it is published. */
  Draft start() throws IOException;

  /** Fails if a file could not be written now. Leaves nothing behind. */
  void check() throws IOException;

  /** Where the files are, for people: a directory or a URL. Has no secrets. */
  String location();

  /** Releases connections. Drafts must be closed before. */
  @Override
  default void close() {}

  /** Opens a storage when it is needed. */
  @FunctionalInterface
  interface Opener {
    ArchiveStorage open() throws IOException;
  }

  /** A file that is being written. Used by one thread. */
  interface Draft extends Closeable {
    /** Takes the contents. The caller closes it before it publishes. Uses bounded memory. */
    OutputStream content();

    /**
     * Gives the file its name, in one step: readers find the whole file or none. When this returns,
     * the file survives a crash of this machine.
     *
     * <p>A file of this name with the same contents may exist, from a run that crashed later on;
     * that is no error. A file with other contents is not touched, and this fails.
     *
     * @param sha256 of the contents, in lower-case hexadecimal digits
     */
    void publish(String name, long bytes, String sha256) throws IOException;

    /** Discards the file unless it was published. */
    @Override
    void close() throws IOException;
  }
}

package dev.postrider.internal.stream;

import dev.postrider.message.PostriderException;

/** The log no longer has, or never had, what comes after a position. */
public final class StreamGoneException extends PostriderException {
  private static final long serialVersionUID = 1L;

  private final long oldest;
  private final long latest;

  StreamGoneException(long after, long oldest, long latest) {
    super(
        after > latest
            ? "position " + after + " is beyond the log's last one, " + latest
            : "what came after position "
                + after
                + " was purged; the oldest event has position "
                + oldest);
    this.oldest = oldest;
    this.latest = latest;
  }

  /** The oldest position that can be read. */
  public long oldest() {
    return oldest;
  }

  /** The log's last position. */
  public long latest() {
    return latest;
  }
}

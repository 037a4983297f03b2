package dev.postrider.internal.protocol;

/** Values that Java and the SQL functions must agree on. A test compares them. */
public final class Protocol {
  /** After this many lost leases a message is claimed alone: {@code suspect_after()}. */
  public static final int SUSPECT_AFTER = 3;

  /** A claim with room left for less than one part in this many is full: {@code full_share()}. */
  public static final int FULL_SHARE = 8;

  /**
   * The largest payload that the fast enqueue functions take, in bytes: {@code fits_fast_path()}.
   */
  public static final int FAST_PAYLOAD = 4096;

  /** The most bytes of all names of a message for them: {@code fits_fast_path()}. */
  public static final int FAST_NAMES = 200;

  /** The most bytes of headers as JSON text for them: {@code headers_fit()}. */
  public static final int FAST_HEADERS = 512;

  /** The queue's number of a key in a named subscription: {@code subscription_key()}. */
  public static long key(long key, int route) {
    return key | (long) route << 40;
  }

  private Protocol() {}
}

package dev.postrider.server.api;

/** How large a body an endpoint takes: as little as it needs, since bodies use memory. */
public enum BodySize {
  /** From callers who have not shown a token. */
  TINY(4 << 10),
  /** What an act is about. */
  SMALL(64 << 10),
  /** Messages: as much as the server takes at all. */
  LARGE(Integer.MAX_VALUE);

  private final int bytes;

  BodySize(int bytes) {
    this.bytes = bytes;
  }

  /** Bytes at most, where a server takes so many. */
  int within(int most) {
    return Math.min(bytes, most);
  }
}

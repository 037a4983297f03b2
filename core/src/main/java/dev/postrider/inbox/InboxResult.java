package dev.postrider.inbox;

/** What the inbox says about a message that arrived. Immutable. */
public enum InboxResult {
  /** Not seen before: do the effect. */
  FIRST,
  /**
   * Not seen before, but later messages of its key have passed: it was dead, its key went on, and
   * an operator sent it again. Do the effect.
   */
  OUT_OF_ORDER,
  /** Its effect is committed already: skip the effect, acknowledge the message. */
  DUPLICATE,
  /** A later message of its key has passed already, and no operator sent it again: refuse it. */
  STALE;

  /** Whether to do the effect. */
  public boolean isNew() {
    return this == FIRST || this == OUT_OF_ORDER;
  }
}

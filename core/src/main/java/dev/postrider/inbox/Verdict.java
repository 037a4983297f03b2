package dev.postrider.inbox;

/** What the inbox says about a message that arrived. */
public enum Verdict {
  /** Not seen before: do the effect. */
  FIRST,
  /** Its effect is committed already: skip the effect, acknowledge the message. */
  DUPLICATE,
  /** A later message of its key has passed already: refuse it. */
  STALE
}

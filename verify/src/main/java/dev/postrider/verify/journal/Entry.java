package dev.postrider.verify.journal;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One line of a journal: a time in microseconds, the kind of the entry, and its fields, separated
 * by tabs. A missing value is a hyphen.
 */
public sealed interface Entry {
  /** How messages are treated by the sinks of a run. */
  enum Kind {
    /** Nothing holds it up but faults. */
    HEALTHY,
    /** Of a key with a large share of the traffic, or with a slow target. */
    BUSY,
    /** Fails, or waits behind one that fails, until the end of the run. */
    STUCK,
    /** Refused for good until an operator sends it again. */
    POISON
  }

  long at();

  /**
   * A producer is about to write a message in a transaction.
   *
   * @param ref the producer's own name for the message, which travels in its payload
   * @param sinks those that must get it
   */
  record Intent(
      long at, String transaction, String ref, @Nullable String key, List<String> sinks, Kind kind)
      implements Entry {}

  /** The producer's commit was acknowledged, and enqueue had answered this for the message. */
  record Commit(long at, String transaction, String ref, String id, long sequence)
      implements Entry {}

  /** The producer's transaction was rolled back, and that was acknowledged. */
  record Rollback(long at, String transaction) implements Entry {}

  /** A relay is about to hand a message to a sink. */
  record Handover(long at, String relay, String sink, String id, long token, boolean redelivery)
      implements Entry {}

  /** A relay was told that its settlement "delivered" under this token is accepted, or refused. */
  record Verdict(long at, String relay, String sink, String id, long token, boolean accepted)
      implements Entry {}

  /** A relay got no good answer for a hand-over, and gave the message back, with this code. */
  record Unanswered(long at, String relay, String sink, String id, long token, String code)
      implements Entry {}

  /** A message reached a sink. */
  record Arrival(
      long at, String sink, String ref, String id, @Nullable String key, long sequence, long token)
      implements Entry {}

  /** A sink refused a message for good: its key goes on without it. */
  record Refusal(long at, String sink, String ref) implements Entry {}

  /** The effect of a message behind an inbox, read when the run was over. */
  record Effect(long at, String sink, String ref) implements Entry {}

  /** Something was killed or frozen. At {@code until} it worked again. */
  record Fault(long at, long until, FaultKind kind, String victim) implements Entry {}

  /** This entry as a line without its end. */
  default String line() {
    return Lines.write(this);
  }

  /** The entry of a line. */
  static Entry parse(String line) {
    return Lines.read(line);
  }
}

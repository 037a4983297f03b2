package dev.postrider.examples.payments;

import dev.postrider.message.Outcome;
import java.util.Map;

/**
 * What the bank's codes mean for an instruction: this table and nothing else decides. A code that
 * is not in it is retried: the bank knows the instruction by its message's id, so that it pays once
 * however often it is asked, and after the last attempt a person looks at it. Thread-safe.
 */
final class SepaCodes {
  static final String ACCEPTED = "ACCP";

  private enum Kind {
    TERMINAL,
    RETRYABLE
  }

  private static final Map<String, Kind> KINDS =
      Map.of(
          "AC01", Kind.TERMINAL, // no such account
          "AC04", Kind.TERMINAL, // account closed
          "AC06", Kind.TERMINAL, // account blocked
          "AG01", Kind.TERMINAL, // not allowed on this account
          "RR04", Kind.TERMINAL, // regulatory reason
          "AM04", Kind.RETRYABLE, // insufficient funds
          "AB05", Kind.RETRYABLE, // the other bank did not answer in time
          "AB08", Kind.RETRYABLE, // the other bank is offline
          "TM01", Kind.RETRYABLE); // after today's cut-off

  private SepaCodes() {}

  static Outcome outcome(String code, String reference) {
    if (code.equals(ACCEPTED)) {
      return Outcome.delivered(reference);
    }
    return switch (KINDS.getOrDefault(code, Kind.RETRYABLE)) {
      case TERMINAL -> Outcome.terminal(code, "the bank refused");
      case RETRYABLE -> Outcome.retryable(code, "the bank could not");
    };
  }
}

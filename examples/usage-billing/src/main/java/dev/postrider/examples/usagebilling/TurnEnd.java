package dev.postrider.examples.usagebilling;

import org.jspecify.annotations.Nullable;

/** How a turn ended, as far as the finalizer that saw it knows. */
record TurnEnd(String state, @Nullable Integer inputTokens, @Nullable Integer outputTokens) {
  /** The provider answered to the end, and said what it counted. */
  static TurnEnd completed(int inputTokens, int outputTokens) {
    return new TurnEnd("completed", inputTokens, outputTokens);
  }

  /** The provider failed, and said what it counted until then. */
  static TurnEnd failed(int inputTokens, int outputTokens) {
    return new TurnEnd("failed", inputTokens, outputTokens);
  }

  /** The user went away: nobody says what was counted, so a bounded estimate is settled. */
  static TurnEnd cancelled() {
    return new TurnEnd("cancelled", null, null);
  }
}

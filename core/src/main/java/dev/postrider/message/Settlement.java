package dev.postrider.message;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What was recorded for a message after an attempt, or after it was not sent. Immutable. */
public interface Settlement {
  /** The number is the one the settle function knows it by. */
  enum Decision {
    DELIVERED(1),
    RETRY(2),
    DEAD(3),
    DEAD_BLOCKING(4),
    RELEASED(5),
    DEFERRED(6);

    private final short number;

    Decision(int number) {
      this.number = (short) number;
    }

    public short number() {
      return number;
    }
  }

  Message message();

  Decision decision();

  /** From handing the message to its destination to the answer; 0 if it was not sent. */
  int latencyMs();

  /** How long it waits before it is tried again; zero if it does not wait. */
  Duration delay();

  /** The destination's short code of the failure; null if there was none. */
  @Nullable String code();

  /** The text of the failure; null if there was none. */
  @Nullable String error();

  /** What the destination calls the message; null unless it was delivered with a reference. */
  @Nullable String reference();
}

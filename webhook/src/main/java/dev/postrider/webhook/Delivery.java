package dev.postrider.webhook;

import dev.postrider.message.Outcome;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One message on its way, answered once: by the worker that sends it, or by the deadline if the
 * worker is stuck where nothing can free it, such as in a look-up of the name. Thread-safe.
 */
final class Delivery {
  private final Consumer<Outcome> answers;
  private final AtomicBoolean answered = new AtomicBoolean();
  private volatile @Nullable Exchange exchange;
  private volatile @Nullable Outcome decided;

  Delivery(Consumer<Outcome> answers) {
    this.answers = answers;
  }

  /** Takes the exchange to be cancelled at the deadline; false if that is over. */
  boolean begin(Exchange begun) {
    exchange = begun;
    return !answered.get();
  }

  /** The status has come: whatever happens to the body, this is what it means. */
  void decide(Outcome outcome) {
    decided = outcome;
  }

  void answer(Outcome outcome) {
    if (answered.compareAndSet(false, true)) {
      answers.accept(outcome);
    }
  }

  /** Ends it from outside, with this outcome unless the status has come. */
  void end(Outcome otherwise) {
    Outcome known = decided;
    answer(known == null ? otherwise : known);
    Exchange begun = exchange;
    if (begun != null) {
      begun.cancel();
    }
  }
}

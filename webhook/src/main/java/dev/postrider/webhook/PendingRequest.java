package dev.postrider.webhook;

import dev.postrider.message.Outcome;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One message on its way, answered once: by the worker that sends it, or by the deadline if the
 * worker is stuck where nothing can free it, such as in a look-up of the name. Thread-safe.
 */
final class PendingRequest {
  private final Consumer<Outcome> answers;
  private final AtomicBoolean answered = new AtomicBoolean();
  private final AtomicReference<@Nullable Outcome> fate = new AtomicReference<>();
  private volatile boolean ended;
  private volatile @Nullable RequestExchange exchange;

  PendingRequest(Consumer<Outcome> answers) {
    this.answers = answers;
  }

  /** Takes the exchange to be cancelled at the deadline; false if that is over. */
  boolean begin(RequestExchange begun) {
    exchange = begun;
    return !ended;
  }

  /** The status has come: whatever happens to the body, this is what it means. */
  void decide(Outcome outcome) {
    fate.compareAndSet(null, outcome);
  }

  /** Answers for the worker, unless it was told to end. */
  void answer(Outcome outcome) {
    Outcome decided = fate.get();
    if (answered.compareAndSet(false, true)) {
      answers.accept(ended && decided != null ? decided : outcome);
    }
  }

  /**
   * Ends it from outside, with this outcome unless the status has come. Cancels before it answers:
   * once it is answered, nothing more may be sent.
   */
  void end(Outcome otherwise) {
    fate.compareAndSet(null, otherwise);
    ended = true;
    RequestExchange begun = exchange;
    if (begun != null) {
      begun.cancel();
    }
    answer(otherwise);
  }
}

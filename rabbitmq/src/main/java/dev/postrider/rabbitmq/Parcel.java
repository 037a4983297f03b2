package dev.postrider.rabbitmq;

import dev.postrider.dispatch.Destination.Answers;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A letter on its way to the broker, which is answered once whatever happens. Thread-safe. */
final class Parcel {
  final UUID id;
  final @Nullable String key;
  final Letter letter;
  final long deadlineNanos;
  private final Answers answers;
  private final AtomicBoolean settled = new AtomicBoolean();
  private volatile @Nullable String returned;

  Parcel(Message message, Letter letter, Answers answers, long deadlineNanos) {
    this.id = message.id();
    this.key = message.key();
    this.letter = letter;
    this.answers = answers;
    this.deadlineNanos = deadlineNanos;
  }

  /** No queue took it. The broker says so before it confirms it. */
  void returned(int code, String text) {
    returned =
        "%d %s: no queue took it from exchange %s by routing key %s"
            .formatted(code, text, letter.exchange(), letter.routingKey());
  }

  /** The broker has dealt with it: delivered, unless it came back. Tells which. */
  boolean confirmed() {
    String why = returned;
    settle(why == null ? Outcome.delivered() : Outcome.retryable("unroutable", why));
    return why == null;
  }

  void settle(Outcome outcome) {
    if (settled.compareAndSet(false, true)) {
      answers.answer(id, outcome);
    }
  }

  boolean isSettled() {
    return settled.get();
  }

  boolean overdue(long nowNanos) {
    return nowNanos - deadlineNanos >= 0;
  }
}

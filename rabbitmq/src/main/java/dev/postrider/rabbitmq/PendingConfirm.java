package dev.postrider.rabbitmq;

import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A message on its way to the broker, which is answered once whatever happens. Thread-safe. */
final class PendingConfirm {
  final UUID id;
  final @Nullable String key;
  final Publication publication;
  final long deadlineNanos;
  final Follower follower;
  private final AtomicBoolean settled = new AtomicBoolean();
  private volatile @Nullable String returned;

  PendingConfirm(Message message, Publication publication, Follower follower, long deadlineNanos) {
    this.id = message.id();
    this.key = message.key();
    this.publication = publication;
    this.follower = follower;
    this.deadlineNanos = deadlineNanos;
  }

  /** No queue took it. The broker says so before it confirms it. */
  void returned(int code, String text) {
    returned =
        "%d %s: no queue took it from exchange %s by routing key %s"
            .formatted(code, text, publication.exchange(), publication.routingKey());
  }

  /** Whether no queue took it. */
  boolean isReturned() {
    return returned != null;
  }

  /**
   * The broker has dealt with it: delivered, unless it came back. Returns the next message of its
   * key if it is wanted and may be published now.
   */
  @Nullable Message confirmed(boolean wantsNext) {
    String why = returned;
    if (why == null && wantsNext && key != null) {
      return settled.compareAndSet(false, true) ? follower.answers().deliveredNext(id) : null;
    }
    settle(why == null ? Outcome.delivered() : Outcome.retryable("unroutable", why));
    return null;
  }

  void settle(Outcome outcome) {
    if (settled.compareAndSet(false, true)) {
      follower.answers().answer(id, outcome);
    }
  }

  boolean isSettled() {
    return settled.get();
  }

  boolean overdue(long nowNanos) {
    return nowNanos - deadlineNanos >= 0;
  }
}

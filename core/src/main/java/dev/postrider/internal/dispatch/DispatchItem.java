package dev.postrider.internal.dispatch;

import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.protocol.Claimed;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A claimed message on its way through a dispatcher, guarded by the dispatcher's lock. */
final class DispatchItem {
  enum Stage {
    WAITING,
    SENT,
    TIMED_OUT,
    ANSWERED,
    ABANDONED
  }

  final Claimed claimed;
  final LeaseClock lease;
  final Consumer<Answered> sink;
  final Dispatcher.Check check;

  /** The claimed messages of the same key; null without one. */
  final @Nullable Run run;

  /** The target that it probes, if it does. */
  TargetBreakers.@Nullable Target probed;

  Stage stage = Stage.WAITING;

  /** Whether the sender has checked it ahead of its turn, and it may go. */
  boolean checked;

  long sentAtNanos;

  DispatchItem(
      Claimed claimed,
      LeaseClock lease,
      Consumer<Answered> sink,
      Dispatcher.Check check,
      @Nullable Run run) {
    this.claimed = claimed;
    this.lease = lease;
    this.sink = sink;
    this.check = check;
    this.run = run;
  }

  UUID id() {
    return claimed.message().id();
  }

  int latencyMs(long nowNanos) {
    return (int) Math.min((nowNanos - sentAtNanos) / 1_000_000, Integer.MAX_VALUE);
  }
}

package dev.postrider.dispatch;

import dev.postrider.message.Answered;
import dev.postrider.message.Claimed;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A claimed message on its way through a dispatcher, guarded by the dispatcher's lock. */
final class Parcel {
  enum Stage {
    WAITING,
    SENT,
    TIMED_OUT,
    ANSWERED
  }

  final Claimed claimed;
  final LeaseClock lease;
  final Consumer<Answered> sink;
  final Dispatcher.Check check;

  /** The messages of the same key behind this one; shared by all of the run. */
  final @Nullable Deque<Parcel> run;

  Stage stage = Stage.WAITING;
  long sentAtNanos;

  Parcel(
      Claimed claimed,
      LeaseClock lease,
      Consumer<Answered> sink,
      Dispatcher.Check check,
      @Nullable Deque<Parcel> run) {
    this.claimed = claimed;
    this.lease = lease;
    this.sink = sink;
    this.check = check;
    this.run = run;
  }

  static Deque<Parcel> newRun() {
    return new ArrayDeque<>();
  }

  UUID id() {
    return claimed.message().id();
  }

  int latencyMs(long nowNanos) {
    return (int) Math.min((nowNanos - sentAtNanos) / 1_000_000, Integer.MAX_VALUE);
  }
}

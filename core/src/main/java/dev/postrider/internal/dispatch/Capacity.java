package dev.postrider.internal.dispatch;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.internal.dispatch.Dispatcher.Room;
import dev.postrider.internal.protocol.Claimed;
import org.jspecify.annotations.Nullable;

/**
 * How much is claimed for a destination and not yet settled, and what claims that are running may
 * still add. Guarded by the dispatcher's lock.
 */
final class Capacity {
  private static final int CANDIDATES = 16;

  /** So long a claim waits for room that is worth it. Then it takes what there is. */
  private static final long WORTH_NANOS = 50_000_000;

  /** So long a suspect waits for messages that were claimed before it and are not sent yet. */
  private static final long SUSPECT_WAITS_NANOS = 1_000_000_000;

  /** So long after the first suspect began to wait another one may follow it. */
  private static final long TURNS_NANOS = 2_000_000_000;

  private final DestinationOptions options;
  private int inFlight;
  private long bytesInFlight;

  /** The size of the largest message since nothing was in flight. */
  private long largest = 1;

  private int reserved;
  private long bytesReserved;
  private boolean isolating;
  private boolean aloneOut;
  private boolean aloneFound;
  private long isolatingSinceNanos;
  private long isolateAgainNanos = System.nanoTime();
  private long tookAtNanos = System.nanoTime() - WORTH_NANOS;

  Capacity(DestinationOptions options) {
    this.options = options;
  }

  int inFlight() {
    return inFlight;
  }

  void took(Claimed claimed) {
    inFlight++;
    bytesInFlight += claimed.bytes();
    largest = inFlight == 1 ? Math.max(claimed.bytes(), 1) : Math.max(claimed.bytes(), largest);
  }

  void settled(Amount amount, long nowNanos) {
    inFlight -= amount.messages();
    bytesInFlight -= amount.bytes();
    endTurn(nowNanos);
  }

  /**
   * A message that is suspected of killing its relays waits to be sent alone: nothing else is
   * claimed until all that is in flight is settled, and then that message. Other suspects take
   * their turns after it for a while. Then the other messages get at least as much time as all of
   * this took.
   */
  boolean isolateSuspect(long nowNanos) {
    if (isolating || nowNanos - isolateAgainNanos < 0) {
      return false;
    }
    isolating = true;
    isolatingSinceNanos = nowNanos;
    return true;
  }

  /** Whether messages that are not sent yet are to make way for a suspect. */
  boolean makesWay(long nowNanos) {
    return isolating && !aloneOut && nowNanos - isolatingSinceNanos >= SUSPECT_WAITS_NANOS;
  }

  private void endTurn(long nowNanos) {
    if (!aloneOut || inFlight > 0 || reserved > 0) {
      return;
    }
    aloneOut = false;
    isolating = aloneFound && nowNanos - isolatingSinceNanos < TURNS_NANOS;
    aloneFound = false;
    isolateAgainNanos = nowNanos + (nowNanos - isolatingSinceNanos);
  }

  @Nullable Room reserve(
      Breakers breakers, int batchSize, int claims, Amount leaving, long nowNanos) {
    Room room = room(breakers, batchSize, claims, leaving, nowNanos);
    if (room != null) {
      aloneOut |= room.alone();
      reserved += room.messages();
      bytesReserved += room.bytes();
    }
    return room;
  }

  /** What a claim may take now; null if nothing. */
  @Nullable Room room(Breakers breakers, int batchSize, int claims, Amount leaving, long nowNanos) {
    return switch (breakers.state(nowNanos)) {
      case OPEN -> null;
      case HALF_OPEN -> breakers.probing() || reserved > 0 ? null : candidates();
      case CLOSED -> isolating ? alone() : share(batchSize, claims, leaving, nowNanos);
    };
  }

  /** Of the room that was set aside a claim needs only this: the rest is free for others. */
  Room keep(Room room, Amount claimed, long nowNanos) {
    if (claimed.messages() > 0) {
      tookAtNanos = nowNanos;
      aloneFound |= room.alone();
    }
    reserved += claimed.messages() - room.messages();
    bytesReserved += claimed.bytes() - room.bytes();
    return new Room(claimed.messages(), claimed.bytes(), room.probe(), room.alone());
  }

  void unreserve(Room room, long nowNanos) {
    reserved -= room.messages();
    bytesReserved -= room.bytes();
    endTurn(nowNanos);
  }

  private @Nullable Room alone() {
    return inFlight + reserved > 0 ? null : new Room(1, options.maxBytesInFlight(), false, true);
  }

  /** A few messages for a probe: the first may be for a target that is not to be tried now. */
  private @Nullable Room candidates() {
    int messages = Math.min(options.maxInFlight() - inFlight, CANDIDATES);
    long bytes = options.maxBytesInFlight() - bytesInFlight;
    return messages < 1 || bytes < 1 ? null : new Room(messages, bytes, true, false);
  }

  /**
   * The room for one claim: its share of what is free. Null if less than an eighth of a batch or a
   * quarter of the bytes is free. If nothing was claimed for a moment, the room for one message is
   * enough: a slow destination would otherwise keep it waiting until many others are delivered.
   */
  private @Nullable Room share(int batchSize, int claims, Amount leaving, long nowNanos) {
    int messages = options.maxInFlight() - inFlight - reserved + leaving.messages();
    long bytes = options.maxBytesInFlight() - bytesInFlight - bytesReserved + leaving.bytes();
    boolean waits = nowNanos - tookAtNanos < WORTH_NANOS;
    double least = waits ? Math.min(batchSize, options.maxInFlight()) / 8.0 : 1;
    long quarter = Math.max(options.maxBytesInFlight() / 4, 1);
    long leastBytes = waits ? quarter : Math.min(largest, quarter);
    if (messages < least || bytes < leastBytes) {
      return null;
    }
    int most = Math.min(batchSize, Math.max(options.maxInFlight() / claims, 1));
    long mostBytes = Math.max(options.maxBytesInFlight() / claims, 1);
    return new Room(Math.min(messages, most), Math.min(bytes, mostBytes), false, false);
  }
}

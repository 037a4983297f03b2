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

  private final DestinationOptions options;
  private int inFlight;
  private long bytesInFlight;
  private int reserved;
  private long bytesReserved;
  private boolean isolating;
  private boolean aloneOut;
  private long isolatingSinceNanos;
  private long isolateAgainNanos = System.nanoTime();

  Capacity(DestinationOptions options) {
    this.options = options;
  }

  int inFlight() {
    return inFlight;
  }

  void took(Claimed claimed) {
    inFlight++;
    bytesInFlight += claimed.bytes();
  }

  void settled(Amount amount) {
    inFlight -= amount.messages();
    bytesInFlight -= amount.bytes();
    endIsolation();
  }

  /**
   * A message that is suspected of killing its relays waits to be sent alone: nothing else is
   * claimed until all that is in flight is settled, and then that message. Other messages get at
   * least as much time as this takes.
   */
  boolean isolateSuspect(long nowNanos) {
    if (isolating || nowNanos - isolateAgainNanos < 0) {
      return false;
    }
    isolating = true;
    isolatingSinceNanos = nowNanos;
    return true;
  }

  private void endIsolation() {
    if (aloneOut && inFlight == 0 && reserved == 0) {
      long now = System.nanoTime();
      isolating = false;
      aloneOut = false;
      isolateAgainNanos = now + (now - isolatingSinceNanos);
    }
  }

  @Nullable Room reserve(
      Breakers breakers, int batchSize, int claims, Amount leaving, long nowNanos) {
    Room room =
        switch (breakers.state(nowNanos)) {
          case OPEN -> null;
          case HALF_OPEN -> breakers.probing() || reserved > 0 ? null : candidates();
          case CLOSED -> isolating ? alone() : share(batchSize, claims, leaving);
        };
    if (room != null) {
      reserved += room.messages();
      bytesReserved += room.bytes();
    }
    return room;
  }

  void unreserve(Room room) {
    reserved -= room.messages();
    bytesReserved -= room.bytes();
    endIsolation();
  }

  private @Nullable Room alone() {
    if (inFlight + reserved > 0) {
      return null;
    }
    aloneOut = true;
    return new Room(1, options.maxBytesInFlight(), false, true);
  }

  /** A few messages for a probe: the first may be for a target that is not to be tried now. */
  private @Nullable Room candidates() {
    int messages = Math.min(options.maxInFlight() - inFlight, CANDIDATES);
    long bytes = options.maxBytesInFlight() - bytesInFlight;
    return messages < 1 || bytes < 1 ? null : new Room(messages, bytes, true, false);
  }

  /**
   * The room for one claim: its share of what is free. Null if less than an eighth of a batch is
   * free.
   */
  private @Nullable Room share(int batchSize, int claims, Amount leaving) {
    int messages = options.maxInFlight() - inFlight - reserved + leaving.messages();
    long bytes = options.maxBytesInFlight() - bytesInFlight - bytesReserved + leaving.bytes();
    if (messages < Math.min(batchSize, options.maxInFlight()) / 8.0
        || bytes < options.maxBytesInFlight() / 4.0) {
      return null;
    }
    int most = Math.min(batchSize, Math.max(options.maxInFlight() / claims, 1));
    long mostBytes = Math.max(options.maxBytesInFlight() / claims, 1);
    return new Room(Math.min(messages, most), Math.min(bytes, mostBytes), false, false);
  }
}

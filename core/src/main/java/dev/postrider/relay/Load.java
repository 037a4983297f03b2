package dev.postrider.relay;

import dev.postrider.internal.dispatch.Amount;
import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.dispatch.Dispatcher.Room;
import dev.postrider.internal.protocol.Claimed;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A claim for one feed. It takes the destination's room only while it runs, and then keeps what it
 * needs: feeds without messages leave the room to the others of their destination. Not thread-safe.
 */
final class Load {
  private final Routing.Feed feed;
  private final Limits limits;
  private final ActiveTopics.Turn turn;
  private @Nullable Room room;

  Load(Routing.Feed feed, Limits limits, ActiveTopics.Turn turn) {
    this.feed = feed;
    this.limits = limits;
    this.turn = turn;
  }

  /**
   * How much one claim may take.
   *
   * @param claims how many may run at the same time
   * @param leaving what the same transaction settles
   */
  record Limits(int batchSize, int claims, Amount leaving) {
    boolean leaveRoom(Dispatcher dispatcher) {
      return dispatcher.hasRoom(batchSize, claims, leaving);
    }
  }

  Routing.Feed feed() {
    return feed;
  }

  Dispatcher dispatcher() {
    return feed.dispatcher();
  }

  /** The topics of a claim with this room. */
  List<Integer> routes(Room room) {
    return room.alone() ? turn.all() : turn.routes();
  }

  /** Whether there are more topics that are ready than one claim looks at. */
  boolean partial() {
    return turn.partial();
  }

  /** Sets room aside; null if there is none any more. */
  @Nullable Room reserve() {
    done();
    room = dispatcher().reserve(limits.batchSize(), limits.claims(), limits.leaving());
    return room;
  }

  /** Gives back what these messages do not need. */
  void took(List<Claimed> claimed) {
    Amount amount = Amount.NONE;
    for (Claimed each : claimed) {
      amount = amount.plus(each);
    }
    if (room != null) {
      room = dispatcher().keep(room, amount);
    }
  }

  /** The messages are with their dispatcher, or will not come. */
  void done() {
    if (room != null) {
      dispatcher().unreserve(room);
      room = null;
    }
  }
}

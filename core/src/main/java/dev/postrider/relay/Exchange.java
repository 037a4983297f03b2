package dev.postrider.relay;

import dev.postrider.internal.claim.ClaimPath;
import dev.postrider.internal.claim.ClaimRequest;
import dev.postrider.internal.claim.ClaimResult;
import dev.postrider.internal.claim.Claims;
import dev.postrider.internal.dispatch.Dispatcher.Room;
import dev.postrider.internal.protocol.ClaimSettlement;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.internal.protocol.Protocol;
import dev.postrider.internal.settle.Settlements;
import dev.postrider.observe.RelayListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One transaction of a carrier: it records settlements and claims the next messages. Each carrier
 * has its own, because claims go on where the carrier's last one ended. Not thread-safe.
 */
final class Exchange {
  private final Claims claims;
  private final Settlements settlements;
  private final Routing routing;
  private final RelayListener listener;
  private final Duration lease;
  private final Map<Routing.Feed, ClaimPath> paths = new HashMap<>();

  Exchange(
      Claims claims,
      Settlements settlements,
      Routing routing,
      RelayListener listener,
      Duration lease) {
    this.claims = claims;
    this.settlements = settlements;
    this.routing = routing;
    this.listener = listener;
    this.lease = lease;
  }

  /**
   * What an exchange did.
   *
   * @param refused settlements whose lease was lost
   * @param full whether a claim took about all it had room for, so that there is probably more
   * @param partial whether a claim did not look at everything
   * @param searched how long the claims took
   * @param leftOut whose room was taken meanwhile, so that their claims are still to be made
   */
  record Result(
      Set<ClaimSettlement> refused,
      List<Claimed> claimed,
      boolean full,
      boolean partial,
      Duration searched,
      Set<Routing.Feed> leftOut) {}

  /** What one claim did. */
  private record Claim(List<Claimed> messages, boolean full, boolean partial, Duration time) {}

  Result run(Connection connection, int worker, List<ClaimSettlement> settling, List<Load> loads)
      throws SQLException {
    boolean together = settling.isEmpty() ? loads.size() > 1 : !loads.isEmpty();
    connection.setAutoCommit(!together);
    Set<ClaimSettlement> refused =
        settling.isEmpty() ? Set.of() : settlements.record(connection, worker, settling);
    List<Claimed> claimed = new ArrayList<>();
    boolean full = false;
    boolean partial = false;
    Duration searched = Duration.ZERO;
    Set<Routing.Feed> leftOut = new HashSet<>();
    for (Load load : loads) {
      Room room = load.reserve();
      if (room == null) {
        leftOut.add(load.feed());
        continue;
      }
      Claim claim = claim(connection, worker, load, room);
      claimed.addAll(claim.messages());
      full |= claim.full();
      partial |= claim.partial();
      searched = searched.plus(claim.time());
    }
    if (together) {
      connection.commit();
      connection.setAutoCommit(true);
    }
    return new Result(refused, claimed, full, partial, searched, leftOut);
  }

  private Claim claim(Connection connection, int worker, Load load, Room room) throws SQLException {
    long start = System.nanoTime();
    ClaimPath path = paths.computeIfAbsent(load.feed(), feed -> new ClaimPath());
    ClaimRequest.Start from = room.alone() ? ClaimRequest.Start.NONE : path.start(start);
    ClaimResult found =
        claims.take(
            connection,
            new ClaimRequest(
                worker,
                room.messages(),
                room.bytes(),
                lease,
                load.routes(room),
                from,
                room.alone() ? ClaimRequest.Kind.SUSPECT : ClaimRequest.Kind.DUE),
            routing.directory()::route);
    long end = System.nanoTime();
    int count = found.messages().size();
    load.took(found.messages());
    if (count > 0) {
      routing.served(load.feed());
    }
    Duration time = Duration.ofNanos(end - start);
    listener.claimed(count, time);
    boolean full = count >= room.messages() - room.messages() / Protocol.FULL_SHARE;
    if (room.alone()) {
      return new Claim(found.messages(), full, true, time);
    }
    path.took(found, from, full, start, end);
    boolean partial = !full && (found.more() || load.partial() || !from.search() || !from.front());
    partial |= found.suspects() && load.dispatcher().isolateSuspect();
    return new Claim(found.messages(), full, partial, time);
  }
}

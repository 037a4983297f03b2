package dev.postrider.relay;

import dev.postrider.internal.dispatch.Amount;
import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.dispatch.LeaseClock;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.protocol.ClaimSettlement;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.observe.RelayListener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** One carrier's way to the dispatchers: finds those of a batch by the routes of its messages. */
final class Dispatchers {
  private final RouteDirectory directory;
  private final InFlight inFlight;
  private final RelayListener listener;

  Dispatchers(RouteDirectory directory, InFlight inFlight, RelayListener listener) {
    this.directory = directory;
    this.inFlight = inFlight;
    this.listener = listener;
  }

  RouteBinding binding(Claimed claimed) {
    return directory.binding(claimed.routeId());
  }

  /** How much of each dispatcher's messages is among them. */
  Map<Dispatcher, Amount> amounts(List<ClaimSettlement> settlements) {
    Map<Dispatcher, Amount> amounts = new HashMap<>();
    for (ClaimSettlement settlement : settlements) {
      Claimed claimed = settlement.claimed();
      amounts.compute(
          binding(claimed).dispatcher(),
          (d, sum) -> (sum == null ? Amount.NONE : sum).plus(claimed));
    }
    return amounts;
  }

  /**
   * Hands claimed messages over.
   *
   * @param askedAt when the claim was sent, from which their leases count
   */
  void submit(List<Claimed> claimed, long askedAt, Consumer<Answered> answers) {
    Map<Dispatcher, Map<LeaseClock, List<Claimed>>> parts = new LinkedHashMap<>();
    for (Claimed message : claimed) {
      parts
          .computeIfAbsent(binding(message).dispatcher(), d -> new LinkedHashMap<>())
          .computeIfAbsent(inFlight.add(message, askedAt), c -> new ArrayList<>())
          .add(message);
    }
    parts.forEach(
        (dispatcher, byClock) ->
            byClock.forEach(
                (clock, batch) ->
                    dispatcher.submit(batch, clock, answers, m -> binding(m).refuse(m))));
  }

  /** The database has their answers; some were refused, because their lease was lost. */
  void settled(List<ClaimSettlement> settlements, Set<ClaimSettlement> refused) {
    for (ClaimSettlement settlement : settlements) {
      Claimed claimed = settlement.claimed();
      String destination = binding(claimed).dispatcher().name();
      inFlight.settled(claimed);
      if (refused.contains(settlement)) {
        listener.conflict(destination, settlement);
      } else {
        listener.settled(destination, settlement);
      }
    }
    amounts(settlements).forEach(Dispatcher::settled);
  }
}

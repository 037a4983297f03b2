package dev.postrider.internal.dispatch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Several subscriptions of a topic may have the same destination, and a destination answers by the
 * message's id. So only one subscription's copy of a message is with the destination at a time, and
 * the others wait here. Guarded by the dispatcher's lock.
 */
final class Copies {
  private final Map<UUID, Sent> byId = new HashMap<>();

  /** A message that is with the destination: more than once if its lease was lost meanwhile. */
  private static final class Sent {
    final int routeId;
    int count;
    List<DispatchItem> held = List.of();

    Sent(int routeId) {
      this.routeId = routeId;
    }
  }

  void sent(DispatchItem item) {
    byId.computeIfAbsent(item.id(), id -> new Sent(item.claimed.routeId())).count++;
  }

  /** Whether another subscription's copy is with the destination. */
  boolean isSent(DispatchItem item) {
    Sent sent = byId.get(item.id());
    return sent != null && sent.routeId != item.claimed.routeId();
  }

  /** Keeps an item until the other copy has left; false if there is none. */
  boolean hold(DispatchItem item) {
    Sent sent = byId.get(item.id());
    if (sent == null || sent.routeId == item.claimed.routeId()) {
      return false;
    }
    sent.held = new ArrayList<>(sent.held);
    sent.held.add(item);
    return true;
  }

  /** The item is no longer with the destination. Passes on the copies that waited for it. */
  void left(DispatchItem item, Consumer<DispatchItem> each) {
    Sent sent = byId.get(item.id());
    if (sent != null && --sent.count == 0) {
      byId.remove(item.id());
      sent.held.forEach(each);
    }
  }

  /** Passes on all copies that wait. */
  void drain(Consumer<DispatchItem> each) {
    for (Sent sent : byId.values()) {
      List<DispatchItem> held = sent.held;
      sent.held = List.of();
      held.forEach(each);
    }
  }
}

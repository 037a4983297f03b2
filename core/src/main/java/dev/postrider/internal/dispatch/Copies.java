package dev.postrider.internal.dispatch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Several subscriptions of a topic may have the same destination, and a destination answers by the
 * message's id. So only one copy of a message is with the destination at a time, and the others
 * wait here. Guarded by the dispatcher's lock.
 */
final class Copies {
  private static final List<DispatchItem> NONE = List.of();

  /** The copies that wait, by the id of each message that is with the destination. */
  private final Map<UUID, List<DispatchItem>> waiting = new HashMap<>();

  void sent(DispatchItem item) {
    waiting.put(item.id(), NONE);
  }

  /** Whether another copy is with the destination. */
  boolean isSent(DispatchItem item) {
    return waiting.containsKey(item.id());
  }

  /** Keeps an item until the copy that is with the destination has left; false if there is none. */
  boolean hold(DispatchItem item) {
    List<DispatchItem> others = waiting.get(item.id());
    if (others == null) {
      return false;
    }
    List<DispatchItem> held = new ArrayList<>(others);
    held.add(item);
    waiting.put(item.id(), held);
    return true;
  }

  /** The item is no longer with the destination. Passes on the copies that waited for it. */
  void left(DispatchItem item, Consumer<DispatchItem> each) {
    List<DispatchItem> held = waiting.remove(item.id());
    if (held != null) {
      held.forEach(each);
    }
  }

  /** Passes on all copies that wait. */
  void drain(Consumer<DispatchItem> each) {
    for (Map.Entry<UUID, List<DispatchItem>> entry : waiting.entrySet()) {
      List<DispatchItem> held = entry.getValue();
      entry.setValue(NONE);
      held.forEach(each);
    }
  }
}

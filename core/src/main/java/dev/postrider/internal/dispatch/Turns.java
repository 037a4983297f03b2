package dev.postrider.internal.dispatch;

import dev.postrider.internal.protocol.Claimed;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The messages that wait to be sent. Topics and tenants take turns, one message each, and so do
 * messages with and without keys; within one of these sources the oldest goes first. So a few
 * messages of one do not wait for the thousands of another that were claimed before. Guarded by the
 * dispatcher's lock.
 */
final class Turns {
  private final Map<Source, Deque<DispatchItem>> bySource = new HashMap<>();
  private final Deque<Source> next = new ArrayDeque<>();

  private record Source(int routeId, @Nullable String tenant, boolean ordered) {}

  boolean isEmpty() {
    return next.isEmpty();
  }

  void add(DispatchItem item) {
    Claimed claimed = item.claimed;
    Source source = new Source(claimed.routeId(), claimed.message().tenant(), claimed.ordered());
    Deque<DispatchItem> waiting = bySource.get(source);
    if (waiting == null) {
      waiting = new ArrayDeque<>();
      bySource.put(source, waiting);
      next.add(source);
    }
    waiting.add(item);
  }

  /** Takes the next one; null if there is none. */
  @Nullable DispatchItem poll() {
    Source source = next.poll();
    Deque<DispatchItem> waiting = source == null ? null : bySource.get(source);
    if (source == null || waiting == null) {
      return null;
    }
    DispatchItem item = waiting.remove();
    if (waiting.isEmpty()) {
      bySource.remove(source);
    } else {
      next.add(source);
    }
    return item;
  }

  /** Takes all of them. */
  void drain(Consumer<DispatchItem> each) {
    for (DispatchItem item = poll(); item != null; item = poll()) {
      each.accept(item);
    }
  }
}

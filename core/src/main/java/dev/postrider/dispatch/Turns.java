package dev.postrider.dispatch;

import dev.postrider.message.Claimed;
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
  private final Map<Source, Deque<Parcel>> bySource = new HashMap<>();
  private final Deque<Source> next = new ArrayDeque<>();

  private record Source(int routeId, @Nullable String tenant, boolean ordered) {}

  boolean isEmpty() {
    return next.isEmpty();
  }

  void add(Parcel parcel) {
    Claimed claimed = parcel.claimed;
    Source source = new Source(claimed.routeId(), claimed.message().tenant(), claimed.ordered());
    Deque<Parcel> waiting = bySource.get(source);
    if (waiting == null) {
      waiting = new ArrayDeque<>();
      bySource.put(source, waiting);
      next.add(source);
    }
    waiting.add(parcel);
  }

  /** Takes the next one; null if there is none. */
  @Nullable Parcel poll() {
    Source source = next.poll();
    Deque<Parcel> waiting = source == null ? null : bySource.get(source);
    if (source == null || waiting == null) {
      return null;
    }
    Parcel parcel = waiting.remove();
    if (waiting.isEmpty()) {
      bySource.remove(source);
    } else {
      next.add(source);
    }
    return parcel;
  }

  /** Takes all of them. */
  void drain(Consumer<Parcel> each) {
    for (Parcel parcel = poll(); parcel != null; parcel = poll()) {
      each.accept(parcel);
    }
  }
}

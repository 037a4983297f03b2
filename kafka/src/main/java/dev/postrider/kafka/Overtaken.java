package dev.postrider.kafka;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Messages that timed out while others got through, the latest of them. One that timed out again
 * although its partition took others in between is overtaken. That may happen to any message where
 * a broker is slow. If it happens again and again, the message itself is the cause. Thread-safe.
 */
final class Overtaken {
  /** So often a message may be overtaken before it is to blame. */
  static final int FREE = 3;

  static final int MOST = 10_000;

  private final Map<UUID, Wait> waits =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, Wait> eldest) {
          return size() > MOST;
        }
      };
  private volatile boolean any;

  private record Wait(long sinceNanos, int overtaken) {}

  /** Whether the partition took others since this moment. */
  interface Progress {
    boolean since(long nanos);
  }

  /** A message timed out. Returns whether it is itself to blame for that. */
  synchronized boolean timedOut(UUID id, long nowNanos, Progress progress) {
    Wait before = waits.remove(id);
    boolean passed = before != null && progress.since(before.sinceNanos());
    int overtaken = (before == null ? 0 : before.overtaken()) + (passed ? 1 : 0);
    waits.put(id, new Wait(nowNanos, overtaken));
    any = true;
    return passed && overtaken > FREE;
  }

  void delivered(UUID id) {
    if (any) {
      synchronized (this) {
        waits.remove(id);
        any = !waits.isEmpty();
      }
    }
  }
}

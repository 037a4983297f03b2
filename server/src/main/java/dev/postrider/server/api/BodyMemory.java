package dev.postrider.server.api;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Memory of all bodies that are read or worked on. One caller has half of it at most. Thread-safe.
 */
final class BodyMemory {
  private final long bytes;
  private final Map<String, Long> byCaller = new HashMap<>();
  private long held;

  BodyMemory(long bytes) {
    this.bytes = bytes;
  }

  /** What one caller can have. */
  long mostOfCaller() {
    return bytes / 2;
  }

  /**
   * Takes so many bytes more.
   *
   * @throws ProblemException if there is no room
   */
  synchronized void hold(String caller, long more) {
    long own = byCaller.getOrDefault(caller, 0L) + more;
    if (own > mostOfCaller()) {
      throw overloaded(
          "the bodies of this caller use half of the memory for bodies; send fewer at a time");
    } else if (held + more > bytes) {
      throw overloaded("the bodies of all callers use up the memory for bodies; try again soon");
    }
    held += more;
    byCaller.put(caller, own);
  }

  synchronized void release(String caller, long less) {
    held -= less;
    byCaller.computeIfPresent(caller, (name, own) -> own == less ? null : own - less);
  }

  private static ProblemException overloaded(String detail) {
    return new ProblemException(
        Problem.of(503, "overloaded", "Overloaded", detail), Duration.ofSeconds(1));
  }
}

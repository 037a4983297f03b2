package dev.postrider.relay;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The topics with messages that are not fanned out yet. They take turns, a few at a time, so that a
 * fan-out is short and the backlog of some delays the others little. Thread-safe.
 */
final class FanOutTurns {
  /** How many topics one fan-out looks at. */
  static final int TOPICS = 16;

  private final Set<Integer> topics = new LinkedHashSet<>();
  private volatile boolean due;

  /** Adds topics, each once, behind the others. */
  synchronized void add(Collection<Integer> more) {
    topics.addAll(more);
    due = !topics.isEmpty();
  }

  /** Takes the next ones. */
  synchronized List<Integer> next() {
    List<Integer> next = topics.stream().limit(TOPICS).toList();
    next.forEach(topics::remove);
    due = !topics.isEmpty();
    return next;
  }

  boolean due() {
    return due;
  }
}

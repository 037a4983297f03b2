package dev.postrider.relay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * The topics of one feed that have messages, or had some lately. Ready are those with messages that
 * can be claimed. Not thread-safe: {@link Routing} guards it.
 */
final class ActiveTopics {
  /** How many topics one claim looks at; with more of them claims take turns. */
  static final int ROUTES_PER_CLAIM = 64;

  /** Of these, so many are for topics that have only delayed or blocked messages. */
  private static final int IDLE_ROUTES_PER_CLAIM = ROUTES_PER_CLAIM / 4;

  private final LinkedHashSet<Integer> routes = new LinkedHashSet<>();

  /** The time at which a topic was last seen to be ready. */
  private final Map<Integer, Long> ready = new HashMap<>();

  /**
   * The topics of one claim.
   *
   * @param routes those whose turn it is
   * @param partial whether there are more topics that are ready than one claim looks at
   * @param all also those whose turn it is not: a claim for a suspect looks at them, too, because
   *     the one that reported it was another topic's turn
   */
  record Turn(List<Integer> routes, boolean partial, List<Integer> all) {}

  /** Returns whether the topic became ready. */
  boolean add(int id, boolean isReady, long nowNanos) {
    routes.add(id);
    return isReady && ready.put(id, nowNanos) == null;
  }

  /**
   * A search has found these topics. The others are forgotten if there are too many to look at all
   * of them, and are not ready, unless they rang after the start of the search.
   */
  void searched(Set<Integer> found, long startNanos) {
    if (routes.size() > ROUTES_PER_CLAIM) {
      routes.removeIf(id -> !found.contains(id) && !rangSince(id, startNanos));
    }
    ready.values().removeIf(seenNanos -> seenNanos - startNanos < 0);
  }

  private boolean rangSince(int id, long nanos) {
    Long seenNanos = ready.get(id);
    return seenNanos != null && seenNanos - nanos >= 0;
  }

  /** Those that may be claimed from. */
  List<Integer> open(IntPredicate paused) {
    return routes.stream().filter(id -> !paused.test(id)).toList();
  }

  /**
   * Of too many topics it takes the next few, those that are ready first; the others get a part.
   */
  Turn next(List<Integer> open) {
    if (open.size() <= ROUTES_PER_CLAIM) {
      return new Turn(open, false, open);
    }
    List<Integer> readyOnes = open.stream().filter(ready::containsKey).toList();
    int idle = Math.min(open.size() - readyOnes.size(), IDLE_ROUTES_PER_CLAIM);
    int most = Math.min(readyOnes.size(), ROUTES_PER_CLAIM - idle);
    List<Integer> next = new ArrayList<>(readyOnes.subList(0, most));
    open.stream()
        .filter(id -> !ready.containsKey(id))
        .limit(ROUTES_PER_CLAIM - most)
        .forEach(next::add);
    routes.removeAll(new HashSet<>(next));
    routes.addAll(next);
    return new Turn(next, most < readyOnes.size(), open);
  }
}

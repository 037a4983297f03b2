package dev.postrider.observe;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Event types as values of a tag: the first hundred by their names, all others together, since
 * producers choose them and every value is a series for good. Thread-safe.
 */
final class EventTypes {
  static final int MOST = 100;
  private final Set<String> known = ConcurrentHashMap.newKeySet();

  String tag(@Nullable String eventType) {
    if (eventType == null) {
      return "none";
    }
    if (known.contains(eventType)) {
      return eventType;
    }
    synchronized (known) {
      return known.contains(eventType) || (known.size() < MOST && known.add(eventType))
          ? eventType
          : "other";
    }
  }
}

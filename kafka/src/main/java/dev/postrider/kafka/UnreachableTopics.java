package dev.postrider.kafka;

import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Topics that could not be written to a moment ago. Asking for one that does not exist blocks, so
 * its messages get the same answer for a while without asking. Thread-safe.
 */
final class UnreachableTopics {
  private static final long NANOS = Duration.ofSeconds(5).toNanos();
  private static final int MOST = 1000;

  private final Map<String, Entry> topics = new LinkedHashMap<>();

  private record Entry(Outcome outcome, long untilNanos) {}

  synchronized void add(String topic, Outcome outcome) {
    topics.remove(topic);
    if (topics.size() >= MOST) {
      topics.remove(topics.keySet().iterator().next());
    }
    topics.put(topic, new Entry(outcome, System.nanoTime() + NANOS));
  }

  /** The answer for messages to this topic; null if it may be tried. */
  synchronized @Nullable Outcome answerFor(String topic) {
    Entry entry = topics.get(topic);
    if (entry == null) {
      return null;
    }
    if (System.nanoTime() - entry.untilNanos() >= 0) {
      topics.remove(topic);
      return null;
    }
    return entry.outcome();
  }
}

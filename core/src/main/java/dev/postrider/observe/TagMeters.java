package dev.postrider.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Counters of one name, one for each value of a tag. A value that is not known counts as {@code
 * other}, so that there are few series. Thread-safe.
 */
record TagMeters(Map<String, Counter> byValue, Counter other) {
  /** All exist from the start: a series that starts with its first event hides it from rate(). */
  static TagMeters of(
      MeterRegistry registry, String name, String description, String tag, Set<String> values) {
    Map<String, Counter> counters = new HashMap<>();
    for (String value : values) {
      counters.put(value, counter(registry, name, description, tag, value));
    }
    return new TagMeters(Map.copyOf(counters), counter(registry, name, description, tag, "other"));
  }

  private static Counter counter(
      MeterRegistry registry, String name, String description, String tag, String value) {
    return Counter.builder(name).description(description).tag(tag, value).register(registry);
  }

  void increment(String value, long count) {
    byValue.getOrDefault(value, other).increment((double) count);
  }
}

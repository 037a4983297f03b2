package dev.postrider.bench;

import org.jspecify.annotations.Nullable;

/**
 * The messages of a backlog: SQL for the topic, ordering key and tenant of message number {@code
 * g}, counted from 1. Immutable.
 *
 * @param key null for none
 * @param tenant null for none
 */
record Shape(String topic, @Nullable String key, @Nullable String tenant) {
  /** The keys that {@link #keyed} spreads its messages over. */
  static final int KEYS = 1_000;

  /** All in one topic, given by its name. */
  static Shape topic(String name) {
    return new Shape("'" + name + "'", null, null);
  }

  /** The same over {@value #KEYS} keys, k0 to k999. */
  Shape keyed() {
    return key("'k' || g % " + KEYS);
  }

  Shape key(String sql) {
    return new Shape(topic, sql, tenant);
  }

  Shape tenant(String sql) {
    return new Shape(topic, key, sql);
  }
}

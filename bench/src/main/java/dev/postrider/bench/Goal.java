package dev.postrider.bench;

import java.util.Map;

/** What a ratio should be: at least, or at most, a limit. Immutable. */
record Goal(boolean atLeast, double limit) {
  private static final Map<String, Goal> GOALS =
      Map.ofEntries(
          Map.entry("enqueue_vs_business", new Goal(true, 0.55)),
          Map.entry("enqueue_vs_plain_insert", new Goal(true, 0.75)),
          Map.entry("enqueue_keyed_dedupe_vs_business", new Goal(true, 0.45)),
          Map.entry("drain_vs_raw_delete", new Goal(true, 0.35)),
          Map.entry("ordered_vs_drain", new Goal(true, 0.75)),
          Map.entry("hot_key_vs_drain", new Goal(true, 0.2)),
          Map.entry("latency_p50_vs_notify", new Goal(false, 3)),
          Map.entry("held_xmin_vs_normal", new Goal(true, 0.6)),
          Map.entry("rabbitmq_vs_bare", new Goal(true, 0.5)),
          Map.entry("growth_2m_vs_100k", new Goal(true, 0.85)),
          Map.entry("blocked_vs_normal", new Goal(true, 0.75)),
          Map.entry("kafka_vs_bare", new Goal(true, 0.5)),
          Map.entry("webhook_vs_limit", new Goal(true, 0.8)),
          Map.entry("stream_clients_behind", new Goal(false, 0)),
          Map.entry("stream_heap_mb", new Goal(false, 256)));

  static Goal of(String ratio) {
    Goal goal = GOALS.get(ratio);
    if (goal == null) {
      throw new IllegalArgumentException("no goal is set for the ratio " + ratio);
    }
    return goal;
  }

  boolean metBy(double value) {
    return atLeast ? value >= limit : value <= limit;
  }

  @Override
  public String toString() {
    return (atLeast ? ">= " : "<= ") + limit;
  }
}

package dev.postrider.bench;

import java.util.Map;

/** What a ratio should be: at least, or at most, a limit. Immutable. */
record Goal(boolean atLeast, double limit) {
  private static final Map<String, Goal> GOALS =
      Map.ofEntries(
          goal("enqueue_vs_business", atLeast(0.55)),
          goal("enqueue_vs_plain_insert", atLeast(0.85)),
          goal("enqueue_keyed_dedupe_vs_business", atLeast(0.45)),
          goal("drain_vs_raw_delete", atLeast(0.5)),
          goal("ordered_vs_drain", atLeast(0.75)),
          goal("hot_key_vs_drain", atLeast(0.4)),
          goal("latency_p50_vs_notify", atMost(3)),
          goal("latency_p50_retention_vs_none", atMost(1.1)),
          goal("latency_p99_retention_vs_none", atMost(1.5)),
          goal("held_xmin_vs_normal", atLeast(0.8)),
          goal("rabbitmq_vs_bare", atLeast(0.7)),
          goal("rabbitmq_hot_key_vs_bare_confirmed", atLeast(0.9)),
          goal("growth_2m_vs_100k", atLeast(0.95)),
          goal("growth_5m_vs_100k", atLeast(0.95)),
          goal("blocked_vs_normal", atLeast(0.75)),
          goal("kafka_vs_bare", atLeast(0.7)),
          goal("kafka_1000_keys_vs_no_key", atLeast(0.8)),
          goal("kafka_hot_key_vs_no_key", atLeast(0.5)),
          goal("held_xmin_keyed_vs_normal", atLeast(0.6)),
          goal("stuck_100k_vs_none", atLeast(0.7)),
          goal("topics_50k_vs_10", atLeast(0.7)),
          goal("busy_key_others_p99_vs_idle", atMost(5)),
          goal("busy_topic_others_p99_vs_idle", atMost(5)),
          goal("busy_tenant_others_p99_vs_idle", atMost(5)),
          goal("one_transaction_40k_vs_4k", atLeast(0.5)),
          goal("fan_out_2_vs_1", atLeast(0.8)),
          goal("fan_out_8_vs_1", atLeast(0.8)),
          goal("enqueue_fan_out_8_vs_1", atLeast(0.8)),
          goal("webhook_vs_limit", atLeast(0.8)),
          goal("stream_clients_behind", atMost(0)),
          goal("stream_heap_mb", atMost(256)),
          goal("enqueue_vs_best_peer", atLeast(1)),
          goal("peers_enqueue_vs_plain_insert", atLeast(0.85)),
          goal("drain_vs_best_polling_peer", atLeast(10)),
          goal("drain_vs_debezium", atLeast(2.5)),
          goal("peers_drain_vs_raw_delete", atLeast(0.5)),
          goal("two_relays_vs_one", atLeast(1)),
          goal("latency_p50_vs_best_peer", atMost(1)),
          goal("latency_p99_vs_best_peer", atMost(1)),
          // "Level with the best": within a tenth of it.
          goal("latency_p50_vs_best_peer_in_process", atMost(1.1)),
          goal("latency_p99_vs_best_peer_in_process", atMost(1.1)),
          goal("wal_bytes_beyond_payload", atMost(450)));

  static Goal of(String ratio) {
    Goal goal = GOALS.get(ratio);
    if (goal == null) {
      throw new IllegalArgumentException("no goal is set for the ratio " + ratio);
    }
    return goal;
  }

  private static Map.Entry<String, Goal> goal(String ratio, Goal goal) {
    return Map.entry(ratio, goal);
  }

  private static Goal atLeast(double limit) {
    return new Goal(true, limit);
  }

  private static Goal atMost(double limit) {
    return new Goal(false, limit);
  }

  /** A ratio that could not be measured is not met. */
  boolean metBy(double value) {
    return atLeast ? value >= limit : value <= limit;
  }

  @Override
  public String toString() {
    return (atLeast ? ">= " : "<= ") + limit;
  }
}

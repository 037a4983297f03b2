package dev.postrider.bench;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What a ratio should be, as an issue asks: at least, or at most, a limit. Immutable. */
record Goal(int issue, boolean atLeast, double limit) {
  private static final Map<String, List<Goal>> GOALS =
      Map.ofEntries(
          goals("enqueue_vs_business", atLeast(2, 0.55)),
          goals("enqueue_vs_plain_insert", atLeast(2, 0.75), atLeast(4, 0.85)),
          goals("enqueue_keyed_dedupe_vs_business", atLeast(2, 0.45)),
          goals("drain_vs_raw_delete", atLeast(2, 0.35), atLeast(4, 0.5)),
          goals("ordered_vs_drain", atLeast(2, 0.75)),
          goals("hot_key_vs_drain", atLeast(2, 0.2), atLeast(4, 0.4)),
          goals("latency_p50_vs_notify", atMost(2, 3)),
          goals("held_xmin_vs_normal", atLeast(2, 0.6), atLeast(4, 0.8)),
          goals("rabbitmq_vs_bare", atLeast(3, 0.5), atLeast(4, 0.7)),
          goals("growth_2m_vs_100k", atLeast(2, 0.85), atLeast(4, 0.95)),
          goals("growth_5m_vs_100k", atLeast(4, 0.95)),
          goals("blocked_vs_normal", atLeast(2, 0.75)),
          goals("kafka_vs_bare", atLeast(3, 0.5), atLeast(4, 0.7)),
          goals("held_xmin_keyed_vs_normal", atLeast(13, 0.6)),
          goals("stuck_100k_vs_none", atLeast(13, 0.7)),
          goals("topics_50k_vs_10", atLeast(13, 0.7)),
          goals("busy_key_others_p99_vs_idle", atMost(13, 5)),
          goals("busy_topic_others_p99_vs_idle", atMost(13, 5)),
          goals("busy_tenant_others_p99_vs_idle", atMost(13, 5)),
          goals("one_transaction_40k_vs_4k", atLeast(13, 0.5)),
          goals("webhook_vs_limit", atLeast(3, 0.8)),
          goals("stream_clients_behind", atMost(5, 0)),
          goals("stream_heap_mb", atMost(5, 256)),
          goals("enqueue_vs_best_peer", atLeast(4, 1)),
          goals("peers_enqueue_vs_plain_insert", atLeast(4, 0.85)),
          goals("drain_vs_best_polling_peer", atLeast(4, 10)),
          goals("drain_vs_debezium", atLeast(4, 2.5)),
          goals("peers_drain_vs_raw_delete", atLeast(4, 0.5)),
          goals("two_relays_vs_one", atLeast(4, 1)),
          goals("latency_p50_vs_best_peer", atMost(4, 1)),
          goals("latency_p99_vs_best_peer", atMost(4, 1)),
          // "Level with the best": within a tenth of it.
          goals("latency_p50_vs_best_peer_in_process", atMost(4, 1.1)),
          goals("latency_p99_vs_best_peer_in_process", atMost(4, 1.1)),
          goals("wal_bytes_beyond_payload", atMost(4, 450)));

  /** All that is asked of a ratio, the oldest issue first. */
  static List<Goal> of(String ratio) {
    List<Goal> goals = GOALS.get(ratio);
    if (goals == null) {
      throw new IllegalArgumentException("no goal is set for the ratio " + ratio);
    }
    return goals;
  }

  private static Map.Entry<String, List<Goal>> goals(String ratio, Goal... goals) {
    return Map.entry(ratio, Stream.of(goals).toList());
  }

  private static Goal atLeast(int issue, double limit) {
    return new Goal(issue, true, limit);
  }

  private static Goal atMost(int issue, double limit) {
    return new Goal(issue, false, limit);
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

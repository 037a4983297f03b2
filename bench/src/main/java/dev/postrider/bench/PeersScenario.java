package dev.postrider.bench;

import dev.postrider.bench.peer.Payload;
import java.util.Map;
import java.util.Set;

/**
 * Limits, Postrider and other outboxes side by side, each in a process of its own, in rounds that
 * take turns. The server writes a logical log for everybody, since one of the peers reads it.
 */
final class PeersScenario implements Scenario {
  private static final int PAYLOAD_BYTES = Payload.BYTES;

  /** What is compared. */
  enum Part {
    ENQUEUE,
    DRAIN,
    LATENCY
  }

  private final String name;
  private final String summary;
  private final Set<Part> parts;

  PeersScenario(String name, String summary, Set<Part> parts) {
    this.name = name;
    this.summary = summary;
    this.parts = parts;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String summary() {
    return summary;
  }

  @Override
  public boolean inAll() {
    return parts.size() == Part.values().length;
  }

  @Override
  public Map<String, String> parameters() {
    return Map.of(
        "wal_level", "logical",
        "shared_preload_libraries", "pg_stat_statements",
        "pg_stat_statements.track", "top");
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    database.execute("create extension pg_stat_statements");
    try (PeerProcesses processes = new PeerProcesses(database.jdbcUrl())) {
      Stage stage = new Stage(database, options, report, processes);
      double wal = Double.NaN;
      if (parts.contains(Part.ENQUEUE)) {
        Rounds.Result enqueue = new PeerEnqueue(stage).run();
        wal = wal(enqueue, "postrider") - wal(enqueue, Contestant.BUSINESS.name());
      }
      if (parts.contains(Part.DRAIN)) {
        wal += wal(new PeerDrain(stage).run(), "postrider") - PAYLOAD_BYTES;
      }
      if (inAll()) {
        report.ratio("wal_bytes_beyond_payload", wal);
      }
      if (parts.contains(Part.LATENCY)) {
        new PeerLatency(stage).run();
      }
    }
  }

  private static double wal(Rounds.Result result, String variant) {
    return result.medianCost(variant, Meter.Cost::walBytes);
  }
}

package dev.postrider.bench;

import java.util.Map;

/** One question put to the machine. Implementations hold no state between runs. */
interface Scenario {
  String name();

  String summary();

  /** Whether it is part of "all". */
  default boolean inAll() {
    return true;
  }

  /** What it needs of a server of its own; nothing if the common one will do. */
  default Map<String, String> parameters() {
    return Map.of();
  }

  /** Measures on a migrated database of its own and writes what it found into the report. */
  void run(BenchDatabase database, Options options, Report report) throws Exception;
}

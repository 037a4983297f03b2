package dev.postrider.bench;

/** One question put to the machine. Implementations hold no state between runs. */
interface Scenario {
  String name();

  String summary();

  /** Measures on a migrated database of its own and writes what it found into the report. */
  void run(BenchDatabase database, Options options, Report report) throws Exception;
}

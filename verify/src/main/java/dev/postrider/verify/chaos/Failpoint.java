package dev.postrider.verify.chaos;

import dev.postrider.verify.journal.Clock;
import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.FaultKind;
import dev.postrider.verify.journal.Journal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A place where a relay's process halts: before or after a statement, a commit, or a step of a
 * destination. The engine knows nothing of it: connections and destinations are wrapped.
 * Thread-safe.
 */
final class Failpoint {
  static final int EXIT = 42;
  private static final String PROPERTY = "verify.failpoint";

  /** What a relay calls. The others are called once in a while, these all the time. */
  private static final List<String> OFTEN = List.of("claim_from", "settle", "commit");

  private static final List<String> SELDOM =
      List.of(
          "worker_id",
          "forget_leases",
          "subscription_add",
          "queued_routes",
          "fan_out",
          "arm_doorbell",
          "disarm_doorbell",
          "renew",
          "reap_from",
          "workers_seen",
          "relay_record",
          "ring_owners",
          "ensure_partitions",
          "unrouted_topics",
          "retention_hold",
          "retention_next",
          "retention_step",
          "retention_end");

  private final String name;
  private final AtomicInteger hitsLeft;
  private final Journal journal;
  private final String relay;

  private Failpoint(String name, Journal journal, String relay) {
    this.name = name;
    this.hitsLeft = new AtomicInteger(OFTEN.stream().anyMatch(name::endsWith) ? 5 : 1);
    this.journal = journal;
    this.relay = relay;
  }

  /** The point that this process is to halt at, if any. */
  static @Nullable Failpoint ofProcess(Journal journal, String relay) {
    String name = System.getProperty(PROPERTY);
    return name == null ? null : new Failpoint(name, journal, relay);
  }

  /** The option that makes a process halt there. */
  static String option(String name) {
    return "-D" + PROPERTY + "=" + name;
  }

  /** The names of all points: those of the database, then those of each sink. */
  static List<String> all() {
    List<String> names = new ArrayList<>();
    for (String call : OFTEN) {
      names.addAll(List.of("before " + call, "after " + call));
    }
    for (String call : SELDOM) {
      names.addAll(List.of("before " + call, "after " + call));
    }
    for (String sink :
        List.of(Scene.HANDLED, Scene.RABBIT, Scene.KAFKA, Scene.COPY_HANDLED, Scene.COPY_RABBIT)) {
      names.addAll(
          List.of("before send to " + sink, "before answer of " + sink, "after answer of " + sink));
    }
    return names;
  }

  /** Halts the process if this is the point, for the last of its hits. */
  void reached(String point) {
    if (point.equals(name) && hitsLeft.decrementAndGet() == 0) {
      long now = Clock.micros();
      journal.append(new Entry.Fault(now, now, FaultKind.RELAY_KILL, relay));
      Runtime.getRuntime().halt(EXIT);
    }
  }
}

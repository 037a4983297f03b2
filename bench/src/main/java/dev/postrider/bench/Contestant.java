package dev.postrider.bench;

import java.util.List;
import java.util.stream.Stream;

/**
 * Who is measured in a process of its own.
 *
 * @param peer the class that the harness runs
 * @param module the folder under bench/peers whose class path it needs; empty for our own
 * @param share of the backlog that it is given to drain: the slow ones get less
 */
record Contestant(String name, Kind kind, String peer, String module, double share) {
  private static final int BACKLOG_MIN = 200;
  private static final String PEER = "dev.postrider.bench.peer.";
  private static final String LIMIT = "dev.postrider.bench.limit.";

  enum Kind {
    OURS,
    POLLING,
    LOG_READING,
    LIMIT;

    Chart.Kind colour() {
      return switch (this) {
        case OURS -> Chart.Kind.OURS;
        case LIMIT -> Chart.Kind.LIMIT;
        case POLLING, LOG_READING -> Chart.Kind.PEER;
      };
    }

    boolean peer() {
      return colour() == Chart.Kind.PEER;
    }
  }

  static final Contestant POSTRIDER =
      new Contestant("postrider", Kind.OURS, PostriderPeer.class.getName(), "", 1);
  static final Contestant DEBEZIUM =
      new Contestant("debezium", Kind.LOG_READING, PEER + "debezium.DebeziumPeer", "debezium", 0.5);
  static final Contestant DB_SCHEDULER =
      polling("db-scheduler", "dbscheduler.DbSchedulerPeer", "db-scheduler", 0.1);

  /** All that others have written. */
  static final List<Contestant> PEERS =
      List.of(
          DEBEZIUM,
          DB_SCHEDULER,
          polling("namastack", "namastack.NamastackPeer", "namastack", 0.05),
          polling(
              "transaction-outbox",
              "transactionoutbox.TransactionOutboxPeer",
              "transaction-outbox",
              0.05),
          polling("jobrunr", "jobrunr.JobRunrPeer", "jobrunr", 0.02),
          polling("modulith", "modulith.ModulithPeer", "modulith", 0.015));

  static final Contestant BUSINESS = limit("business alone", "BusinessAlone");
  static final Contestant PLAIN_INSERT = limit("plain insert", "PlainTable");
  static final Contestant RAW_DELETE = limit("raw delete", "PlainTable");
  static final Contestant SCAN = limit("read-only scan", "TableScan");
  static final Contestant NOTIFY = limit("bare NOTIFY", "BareNotify");

  private static Contestant polling(String name, String peer, String module, double share) {
    return new Contestant(name, Kind.POLLING, PEER + peer, module, share);
  }

  private static Contestant limit(String name, String peer) {
    return new Contestant(name, Kind.LIMIT, LIMIT + peer, "", 1);
  }

  /** These, and then all peers. */
  static List<Contestant> peersAfter(Contestant... first) {
    return Stream.concat(Stream.of(first), PEERS.stream()).toList();
  }

  int backlog(int messages) {
    return (int) Math.min(messages, Math.max(BACKLOG_MIN, Math.round(messages * share)));
  }
}

package dev.postrider.cli.doctor;

import dev.postrider.cli.output.Words;
import dev.postrider.observe.Backlog;
import dev.postrider.store.Pauses;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** What relays do. */
final class WorkChecks {
  private static final Duration WAIT_MAX = Duration.ofMinutes(5);

  private static final String ALIVE =
      """
      select count(distinct regexp_replace(name, '/[0-9]+$', '')) from postrider.worker
       where stopped_at is null and seen_at > now() - interval '2 minutes'
      """;

  private WorkChecks() {}

  private static Backlog backlog(Patient patient) throws SQLException {
    try (Connection connection = patient.dataSource().getConnection()) {
      return Backlog.read(connection, patient.schema());
    }
  }

  static Finding relays(Patient patient) throws SQLException {
    long alive = patient.database().one(ALIVE, row -> row.getLong(1));
    Backlog backlog = backlog(patient);
    String waiting =
        "%s pending, the oldest for %s"
            .formatted(
                Words.count(backlog.pending(), backlog.pendingEstimated()),
                Words.age(backlog.oldestAge()));
    if (alive == 0) {
      return backlog.pending() == 0
          ? Finding.note("relays", "none runs; nothing waits", "")
          : Finding.trouble("relays", "none runs; " + waiting, "Run: ./postrider relay");
    }
    return backlog.oldestAge().compareTo(WAIT_MAX) <= 0
        ? Finding.ok("relays", alive + " alive; " + Words.count(backlog.pending()) + " pending")
        : Finding.trouble(
            "relays",
            alive + " alive, but " + waiting,
            "Is there a route for it? Is a destination down? Errors: ./postrider tail; a breaker that"
                + " is open: outbox_breaker_changed in the relay's log, /v1/health of its server.");
  }

  static Finding leases(Patient patient) throws SQLException {
    long stuck =
        patient
            .database()
            .one(
                """
                select coalesce(sum(l.open), 0) from postrider.lease l
                 where l.until < now() - interval '2 minutes'
                """,
                row -> row.getLong(1));
    return stuck == 0
        ? Finding.ok("leases", "none is overdue")
        : Finding.trouble(
            "leases",
            Words.count(stuck, "message") + " of relays that died were not given back",
            "Any running relay does that.");
  }

  static Finding dead(Patient patient) throws SQLException {
    Backlog backlog = backlog(patient);
    if (backlog.blockedKeys() > 0) {
      return Finding.trouble(
          "dead",
          Words.blockedKeys(backlog) + ", each behind a dead message",
          "See: ./postrider keys");
    }
    return backlog.dead() == 0
        ? Finding.ok("dead", "no dead letters")
        : Finding.note(
            "dead",
            Words.count(backlog.dead(), backlog.deadEstimated()) + " dead letters",
            "See: ./postrider dead");
  }

  static Finding paused(Patient patient) throws SQLException {
    List<String> names =
        new Pauses(patient.dataSource(), patient.schema())
            .list().stream().map(p -> Words.lower(p.kind()) + " " + p.name()).toList();
    return names.isEmpty()
        ? Finding.ok("paused", "nothing")
        : Finding.note("paused", String.join(", ", names), "Go on with: ./postrider resume");
  }
}

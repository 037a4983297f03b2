package dev.postrider.cli.doctor;

import dev.postrider.cli.output.Words;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.monitor.LiveRelay;
import dev.postrider.message.Route;
import dev.postrider.observe.Backlog;
import dev.postrider.operations.Pauses;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/** What relays do. */
final class WorkChecks {
  private static final int NAMES_MAX = 10;
  private static final Duration WAIT_MAX = Duration.ofMinutes(5);

  private WorkChecks() {}

  private static Backlog backlog(CheckedDatabase checked) throws SQLException {
    try (Connection connection = checked.dataSource().getConnection()) {
      return Backlog.read(connection, checked.schema());
    }
  }

  static Finding relays(CheckedDatabase checked) throws SQLException {
    List<LiveRelay> living = fleet(checked).living();
    int alive = living.size();
    Backlog backlog = backlog(checked);
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
        ? Finding.ok(
            "relays",
            alive
                + " alive"
                + versions(living)
                + "; "
                + Words.count(backlog.pending())
                + " pending")
        : Finding.trouble(
            "relays",
            alive + " alive, but " + waiting,
            "See routes and breakers below, and errors: ./postrider tail");
  }

  private static Fleet.State fleet(CheckedDatabase checked) throws SQLException {
    return new Fleet(checked.dataSource(), checked.schema()).read();
  }

  private static String versions(List<LiveRelay> living) {
    String versions =
        living.stream()
            .map(LiveRelay::version)
            .filter(Objects::nonNull)
            .distinct()
            .sorted()
            .collect(Collectors.joining(", "));
    return versions.isEmpty() ? "" : " (version " + versions + ")";
  }

  static Finding routes(CheckedDatabase checked) throws SQLException {
    List<String> unrouted = fleet(checked).unrouted().stream().map(Route::toString).toList();
    return unrouted.isEmpty()
        ? Finding.ok("routes", "no message waits for want of a route")
        : Finding.trouble(
            "routes",
            "no living relay has a route for " + some(unrouted),
            "Add one to postrider.routes of a relay, or check the names that producers use.");
  }

  private static String some(List<String> names) {
    String first = names.stream().limit(NAMES_MAX).collect(Collectors.joining(", "));
    int more = names.size() - NAMES_MAX;
    return more > 0 ? first + " and " + more + " more" : first;
  }

  static Finding breakers(CheckedDatabase checked) throws SQLException {
    List<String> open = new ArrayList<>();
    for (LiveRelay relay : fleet(checked).living()) {
      for (LiveRelay.Served served : relay.destinations()) {
        if (!served.closed() || served.openTargets() > 0) {
          open.add(
              served.closed()
                  ? "%s at %s (%d targets)"
                      .formatted(served.name(), relay.name(), served.openTargets())
                  : served.name() + " at " + relay.name());
        }
      }
    }
    return open.isEmpty()
        ? Finding.ok("breakers", "all are closed")
        : Finding.trouble(
            "breakers",
            "open: " + some(open),
            "The destination fails; errors: ./postrider tail. A breaker closes by itself.");
  }

  static Finding leases(CheckedDatabase checked) throws SQLException {
    long stuck =
        checked
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

  static Finding dead(CheckedDatabase checked) throws SQLException {
    Backlog backlog = backlog(checked);
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

  static Finding paused(CheckedDatabase checked) throws SQLException {
    List<String> names =
        new Pauses(checked.dataSource(), checked.schema())
            .list().stream().map(p -> Words.lower(p.kind()) + " " + p.name()).toList();
    return names.isEmpty()
        ? Finding.ok("paused", "nothing")
        : Finding.note("paused", String.join(", ", names), "Go on with: ./postrider resume");
  }
}

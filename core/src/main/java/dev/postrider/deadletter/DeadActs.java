package dev.postrider.deadletter;

import dev.postrider.deadletter.DeadLetterPage.Cursor;
import dev.postrider.error.RefusedException;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.jdbc.Database.Session;
import dev.postrider.message.Route;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Requeues and discards many in steps, each in its own transaction. Thread-safe if the data source
 * is.
 */
record DeadActs(Database database, DeadLetters dead) {
  private static final String REQUEUE =
      """
      select requeued as n, audit, at, id, done
        from postrider.requeue_dead(?, ?::jsonb, ?, ?, ?, ?::timestamptz, ?::uuid)
      """;
  private static final String DISCARD =
      """
      select discarded as n, audit, at, id, done
        from postrider.discard_dead(?, ?, ?::jsonb, ?, ?, ?, ?::timestamptz, ?::uuid)
      """;
  private static final int BATCH = 500;

  /** One step of an act: on the given ids, or on what matches behind the last step. */
  @FunctionalInterface
  interface Act {
    Step apply(Session session, String filter, @Nullable List<UUID> ids, Step last)
        throws SQLException;
  }

  static Act requeuing(String actor) {
    RefusedException.ifBlank("actor", actor);
    return (session, filter, ids, last) ->
        session.one(
            REQUEUE, DeadActs::step, actor, filter, ids, BATCH, last.audit, last.at, last.id);
  }

  static Act discarding(String actor, String reason) {
    RefusedException.ifBlank("actor", actor);
    RefusedException.ifBlank("reason", reason);
    return (session, filter, ids, last) ->
        session.one(
            DISCARD,
            DeadActs::step,
            actor,
            reason,
            filter,
            ids,
            BATCH,
            last.audit,
            last.at,
            last.id);
  }

  long on(List<UUID> ids, Act act, DeadLetterFilter filter) throws SQLException {
    long count = 0;
    try (Session session = database.open()) {
      for (int i = 0; i < ids.size(); i += BATCH) {
        List<UUID> some = ids.subList(i, Math.min(i + BATCH, ids.size()));
        count += act.apply(session, filter.json(), some, Step.FIRST).count;
      }
    }
    return count;
  }

  /** On what had died when it began; what dies again meanwhile is left. */
  long onAll(DeadLetterFilter filter, Act act, LongPredicate goOn) throws SQLException {
    if (filter.byError()) {
      return onKind(filter.noLaterThan(now()), act, goOn);
    }
    long count = 0;
    Step step = Step.FIRST;
    try (Session session = database.open()) {
      do {
        step = act.apply(session, filter.json(), null, step);
        count += step.count;
      } while (goOn.test(count) && !step.done);
    }
    return count;
  }

  private Instant now() throws SQLException {
    return database.one(
        "select now() as at", row -> Objects.requireNonNull(Database.instant(row, "at")));
  }

  /** The database does not know kinds of errors: it is told ids, and records the filter. */
  private long onKind(DeadLetterFilter filter, Act act, LongPredicate goOn) throws SQLException {
    long count = 0;
    Map<Route, Step> last = new HashMap<>();
    @Nullable Cursor cursor = null;
    do {
      DeadLetterPage page = dead.list(filter, false, cursor, BATCH);
      Map<Route, List<UUID>> ids = new LinkedHashMap<>();
      page.items()
          .forEach(
              letter ->
                  ids.computeIfAbsent(letter.route(), route -> new ArrayList<>()).add(letter.id()));
      try (Session session = database.open()) {
        for (Map.Entry<Route, List<UUID>> some : ids.entrySet()) {
          Route route = some.getKey();
          Step before = last.getOrDefault(route, Step.FIRST);
          Step step = act.apply(session, filter.in(route).json(), some.getValue(), before);
          last.put(route, step);
          count += step.count;
        }
      }
      cursor = page.next();
    } while (goOn.test(count) && cursor != null);
    return count;
  }

  record Step(
      int count, @Nullable Long audit, @Nullable Instant at, @Nullable UUID id, boolean done) {
    static final Step FIRST = new Step(0, null, null, null, false);
  }

  private static Step step(ResultSet row) throws SQLException {
    return new Step(
        row.getInt("n"),
        row.getObject("audit", Long.class),
        Database.instant(row, "at"),
        row.getObject("id", UUID.class),
        row.getBoolean("done"));
  }
}

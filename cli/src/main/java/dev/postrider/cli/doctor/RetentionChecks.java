package dev.postrider.cli.doctor;

import dev.postrider.cli.output.Words;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Whether what is past its retention goes. */
final class RetentionChecks {
  private static final String CHECK = "retention";

  /**
   * A task is late after three times the pause between its runs, see retention_next(). One that no
   * relay has a period for any more is not judged.
   */
  private static final String TASKS =
      """
      select t.task, t.error, t.wanted_at > now() - interval '1 hour' - 2 * r.every as wanted, coalesce(t.finished_at, t.started_at) < now() - interval '1 hour'
               - 3 * least(interval '1 day', greatest(r.every, t.period / 100)) as late
        from postrider.retention t cross join postrider.retention_run r order by t.task
      """;

  /**
   * How many of the rows in a few pages, by chance, are past their retention by more than a day.
   */
  private static final String SAMPLE =
      """
      select count(*) as seen, count(*) filter (where %2$s) as old
        from postrider.%1$s t tablesample system (%3$s),
             (select now() - interval '1 day' - period as cut from postrider.retention where task = '%4$s') p
      """;

  private static final String PAGES =
      """
      select greatest(1, (pg_relation_size('postrider.%1$s') + coalesce((
               select sum(pg_relation_size(p.relid)) from pg_partition_tree('postrider.%1$s') p
                where p.level > 0), 0)) / 8192)
      """;

  /** A table, and which of its rows a task should have removed. */
  private record Sampled(String table, String task, String old) {}

  /** What is probed is asked in a subquery with a limit: the planner must not join whole tables. */
  private static final List<Sampled> SAMPLED =
      List.of(
          new Sampled(
              "message",
              "messages",
              "t.id < postrider.id_floor(p.cut) and (select s.state from postrider.message_state s"
                  + " where s.id = t.id limit 1) = 'delivered'"),
          new Sampled(
              "attempt",
              "messages",
              "t.finished_at < p.cut and t.message_id < postrider.id_floor(p.cut) and (select true from"
                  + " postrider.message m where m.id = t.message_id limit 1) is null"),
          new Sampled("dedupe", "dedupe_keys", "t.message_id < postrider.id_floor(p.cut)"),
          new Sampled(
              "delivered_content", "delivered_content", "t.message_id < postrider.id_floor(p.cut)"),
          new Sampled("inbox", "inbox", "t.processed_at < p.cut"),
          new Sampled("audit", "audit", "t.at < p.cut"),
          new Sampled(
              "dead_letter",
              "dead_letters",
              "t.resolved_at < p.cut and (t.resolution = 'requeued' or (select true from"
                  + " postrider.message m where m.id = t.message_id limit 1) is null)"),
          new Sampled(
              "ordering_key",
              "ordering_keys",
              "t.used_at < p.cut and (select true from postrider.message m where m.key_id = t.id limit 1)"
                  + " is null"));

  private static final int SAMPLE_PAGES = 64;
  private static final int SHARE = 5;

  private static final String STREAM =
      """
      select e.appended_at < now() - interval '1 day' - t.period
        from postrider.retention t cross join lateral (
          select e.appended_at from postrider.stream_event e order by e.position limit 1) e
       where t.task = 'stream' and (select count(*) from (
          select from postrider.stream_event limit 2) two) = 2
      """;

  private RetentionChecks() {}

  static Finding tasks(CheckedDatabase checked) throws SQLException {
    List<String> failed = new ArrayList<>();
    List<String> late = new ArrayList<>();
    List<Boolean> seen = checked.database().list(TASKS, row -> sort(row, failed, late));
    long wanted = seen.stream().filter(each -> each).count();
    if (seen.isEmpty()) {
      return Finding.note(
          CHECK, "has not run yet", "A running relay does it, a minute after its start.");
    } else if (wanted == 0) {
      return Finding.note(
          CHECK,
          "no relay carries it out any more",
          "No relay runs, or postrider.retention keeps everything for ever.");
    } else if (!failed.isEmpty()) {
      return Finding.trouble(
          CHECK, String.join("; ", failed), "The relay's log has outbox_retention_failed.");
    } else if (!late.isEmpty()) {
      return Finding.trouble(
          CHECK,
          "has not run for long: " + String.join(", ", late),
          "Does a relay run, and is postrider.retention enabled there?");
    }
    return Finding.ok(CHECK, Words.count(wanted, "task") + " up to date");
  }

  /** Whether a relay wants the task. */
  private static boolean sort(ResultSet row, List<String> failed, List<String> late)
      throws SQLException {
    if (!row.getBoolean("wanted")) {
      return false;
    } else if (row.getString("error") != null) {
      failed.add(row.getString("task") + ": " + row.getString("error"));
    } else if (row.getBoolean("late")) {
      late.add(row.getString("task"));
    }
    return true;
  }

  /** Tables that hold much that should be gone; each look reads a few pages. */
  static Finding tables(CheckedDatabase checked) throws SQLException {
    List<String> over = new ArrayList<>();
    for (Sampled sampled : SAMPLED) {
      if (isOver(checked, sampled)) {
        over.add(sampled.table);
      }
    }
    if (checked.database().list(STREAM, row -> row.getBoolean(1)).contains(true)) {
      over.add("stream_event");
    }
    return over.isEmpty()
        ? Finding.ok("old rows", "no table is over its retention")
        : Finding.trouble(
            "old rows",
            "over its retention: " + String.join(", ", over),
            "Relays remove a little at a time; at once: ./postrider purge TASK --older-than TIME");
  }

  private static boolean isOver(CheckedDatabase checked, Sampled sampled) throws SQLException {
    long pages = checked.database().one(PAGES.formatted(sampled.table), row -> row.getLong(1));
    String percent = String.valueOf(Math.min(100.0, 100.0 * SAMPLE_PAGES / pages));
    return checked
        .database()
        .one(
            SAMPLE.formatted(sampled.table, sampled.old, percent, sampled.task),
            row -> row.getLong("old") * SHARE > row.getLong("seen"));
  }
}

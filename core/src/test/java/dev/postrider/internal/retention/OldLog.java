package dev.postrider.internal.retention;

import dev.postrider.testing.TestDatabase;
import java.time.LocalDate;
import java.time.ZoneOffset;

/** Messages of days ago, which enqueue would not take any more, each with an attempt. */
final class OldLog {
  final TestDatabase database;
  private int count;

  OldLog(TestDatabase database) {
    this.database = database;
    database.execute("select postrider.intern_route('shop', 'orders'), postrider.worker_id('old')");
  }

  /** Gives a day partitions of its own; otherwise the default ones take its rows. */
  void partition(int daysAgo) {
    LocalDate day = LocalDate.now(ZoneOffset.UTC).minusDays(daysAgo);
    database.execute(
        """
        create table postrider.message_old_%1$d partition of postrider.message
          for values from ('%2$s') to ('%3$s');
        create table postrider.attempt_old_%1$d partition of postrider.attempt
          for values from ('%4$s') to ('%5$s')
        """
            .formatted(daysAgo, floor(day), floor(day.plusDays(1)), day, day.plusDays(1)));
  }

  private String floor(LocalDate at) {
    return database.value("select postrider.id_floor('" + at + "Z'::timestamptz)");
  }

  /** So many messages in a state; the kind is their payload. Each has a key and a dedupe key. */
  void messages(int daysAgo, String kind, int messages) {
    LocalDate day = LocalDate.now(ZoneOffset.UTC).minusDays(daysAgo);
    database.execute(
        """
        with m as (
          insert into postrider.message (id, created_at, key_id, sequence, route, dedupe_key, is_json, payload)
          select overlay(postrider.id_floor('%1$s 12:00Z')::text placing lpad(to_hex(i), 12, '0') from 25)::uuid,
                 '%1$s 12:00Z', i, 1, 1, 'd' || i, false, '%2$s' from generate_series(%3$d, %4$d) i
          returning *),
        a as (
          insert into postrider.attempt (message_id, finished_at, worker, no, delivery, state)
          select id, '%1$s 12:01Z', 1, 1, 1, 1 from m),
        d as (
          insert into postrider.dedupe (route, dedupe_key, message_id) select 1, dedupe_key, id from m
           where '%2$s' = 'whole'),
        q as (
          insert into postrider.queue (id, key_id, sequence, route, size, lane)
          select id, key_id, 1, 1, 1, 0 from m where '%2$s' = 'pending')
        insert into postrider.dead_letter
          (message_id, key_id, sequence, delivery, route, attempts, died_at, resolved_at, resolution)
        select id, key_id, sequence, 1, 1, 1, '%1$s 12:01Z', case when '%2$s' <> 'dead' then timestamptz '%1$s 12:02Z' end,
               case when '%2$s' <> 'dead' then '%2$s' end
          from m where '%2$s' in ('dead', 'discarded', 'requeued')
        """
            .formatted(day, kind, count + 1, count + messages));
    count += messages;
  }

  long left(String kind) {
    return database.count("select count(*) from postrider.message where payload = '" + kind + "'");
  }
}

package dev.postrider.internal.archive;

import dev.postrider.testing.TestDatabase;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.UUID;

/** Messages of a day sixty days ago, which enqueue would not take any more. */
final class OldMessages {
  private final TestDatabase database;
  private final LocalDate day = LocalDate.now(ZoneOffset.UTC).minusDays(60);
  private int count;

  OldMessages(TestDatabase database) {
    this.database = database;
    database.execute("select postrider.intern_route('shop', 'orders'), postrider.worker_id('old')");
  }

  /** Gives the day partitions of its own; otherwise the default ones take its messages. */
  void partition() {
    database.execute(
        """
        create table postrider.message_old partition of postrider.message
          for values from (%1$s) to (%2$s);
        create table postrider.attempt_old partition of postrider.attempt
          for values from ('%3$s') to ('%4$s')
        """
            .formatted(floor(day), floor(day.plusDays(1)), day, day.plusDays(1)));
  }

  private String floor(LocalDate at) {
    return "'" + database.value("select postrider.id_floor('" + at + "Z'::timestamptz)") + "'";
  }

  /** A message with one attempt and nothing in the queue. */
  UUID delivered() {
    UUID id = logged("application/json", "convert_to('{\"n\": 1,\n \"s\": \"ä\"}', 'UTF8')");
    attempt(id, 1);
    return id;
  }

  /** The same with an id before all others. */
  UUID deliveredWithTheLowestId() {
    count = -1;
    return delivered();
  }

  UUID delivered(String contentType, String payload) {
    UUID id = logged(contentType, payload);
    attempt(id, 1);
    return id;
  }

  /** One that had a place in a key's order and a dedupe key. */
  UUID deliveredOnce(long sequence, String dedupeKey) {
    UUID id = delivered();
    database.execute(
        """
        update postrider.message set key_id = 1, ordering_key = 'k', sequence = %2$d, dedupe_key = '%3$s'
         where id = '%1$s';
        insert into postrider.dedupe (route, dedupe_key, message_id) values (1, '%3$s', '%1$s')
        """
            .formatted(id, sequence, dedupeKey));
    return id;
  }

  UUID pending() {
    UUID id = logged("application/json", "'{}'");
    enqueue(id);
    return id;
  }

  /** Puts it back into the queue, as a replay does. */
  void enqueue(UUID id) {
    database.execute(
        "insert into postrider.queue (id, sequence, route, size, lane) select id, postrider.id_number(id), 1, 2, 0"
            + " from (select '"
            + id
            + "'::uuid as id) m");
  }

  UUID dead(String resolution) {
    UUID id = logged("application/json", "'{}'");
    attempt(id, 3);
    database.execute(
        """
        insert into postrider.dead_letter
          (message_id, delivery, route, attempts, died_at, resolved_at, resolution, reason)
        values ('%s', 1, 1, 1, '%s 12:00Z', %s)
        """
            .formatted(id, day, resolution));
    return id;
  }

  private UUID logged(String contentType, String payload) {
    String floor = database.value("select postrider.id_floor('" + day + " 12:00Z'::timestamptz)");
    UUID id = UUID.fromString(floor.substring(0, 14) + "7000-8000-" + "%012x".formatted(++count));
    database.execute(
        """
        insert into postrider.message (id, created_at, route, content_type, is_json, payload)
        values ('%1$s', '%2$s 12:00Z', 1, '%3$s', postrider.declares_json('%3$s'), %4$s)
        """
            .formatted(id, day, contentType, payload));
    return id;
  }

  private void attempt(UUID id, int state) {
    database.execute(
        """
        insert into postrider.attempt (message_id, finished_at, worker, no, delivery, state)
        values ('%s', '%s 12:01Z', 1, 1, 1, %d)
        """
            .formatted(id, day, state));
  }
}

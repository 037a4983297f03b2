package dev.postrider.bench;

import dev.postrider.bench.peer.Payload;
import dev.postrider.store.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * Fills the queue fast: the same rows that as many enqueues would have left, written set-wise, in
 * order, in transactions of 20,000. Thread-safe: each call connects anew.
 */
final class Backlog {
  private static final int CHUNK = 20_000;

  /** Ids first, so that log and queue get the same ones in the order of g. */
  private static final String LOAD =
      """
      create temp table if not exists fresh (g bigint, id uuid, key text, payload text) on commit delete rows;
      insert into fresh
      select g, postrider.new_id(), %1$s, %2$s from generate_series(%3$d, %4$d) g;
      insert into postrider.ordering_key (namespace, key, last_sequence)
      select '%5$s', f.key, 0 from fresh f where f.key is not null group by f.key
      on conflict do nothing;
      create temp table numbered on commit drop as
      select f.*, k.id as key_id,
             k.last_sequence + row_number() over (partition by f.key order by f.g) as sequence
        from fresh f left join postrider.ordering_key k
          on k.namespace = '%5$s' and k.key = f.key;
      update postrider.ordering_key k set last_sequence = n.last
        from (select key_id, max(sequence) as last from numbered group by key_id) n
       where k.id = n.key_id;
      insert into postrider.message (id, created_at, key_id, sequence, route, ordering_key, payload)
      select n.id, now(), n.key_id, case when n.key_id is not null then n.sequence end, r.id, n.key,
             convert_to(n.payload, 'UTF8')
        from numbered n, postrider.route r
       where r.namespace = '%5$s' and r.topic = '%6$s' order by n.g;
      insert into postrider.queue (id, key_id, sequence, route, size, lane)
      select n.id, n.key_id, case when n.key_id is not null then n.sequence end, r.id,
             octet_length(n.payload), postrider.lane_of(n.key_id)
        from numbered n, postrider.route r
       where r.namespace = '%5$s' and r.topic = '%6$s' order by n.g;
      """;

  private final BenchDatabase database;
  private final Schema schema;

  Backlog(BenchDatabase database, Schema schema) {
    this.database = database;
    this.schema = schema;
  }

  /**
   * Adds messages to a topic of the namespace {@code bench}.
   *
   * @param key SQL for the ordering key of message number g, or null for none
   */
  void load(String topic, int messages, @Nullable String key) throws SQLException {
    try (Connection connection = database.transaction();
        Statement statement = connection.createStatement()) {
      statement.execute(
          schema.sql(
              "insert into postrider.route (namespace, topic) values ('bench', '%s') on conflict do nothing"
                  .formatted(topic)));
      for (int from = 1; from <= messages; from += CHUNK) {
        int to = Math.min(messages, from + CHUNK - 1);
        statement.execute(schema.sql(LOAD.formatted(key, Payload.SQL, from, to, "bench", topic)));
        connection.commit();
      }
    }
  }
}

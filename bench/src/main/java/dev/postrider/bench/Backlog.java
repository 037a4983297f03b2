package dev.postrider.bench;

import dev.postrider.bench.peer.Payload;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Fills the queue fast: the same rows that as many enqueues would have left, written set-wise, in
 * order, in transactions of 20,000. Everything is in the namespace {@code bench}. The one place
 * here that knows the columns of the queue. Thread-safe: each call connects anew.
 */
final class Backlog {
  private static final int CHUNK = 20_000;

  /** Ids first, so that log and queue get the same ones in the order of g. */
  private static final String LOAD =
      """
      create temp table if not exists fresh (
        g bigint, id uuid, topic text, key text, tenant text, payload text) on commit delete rows;
      insert into fresh
      select g, postrider.new_id(), %1$s, %2$s, %3$s, %4$s from generate_series(%5$d, %6$d) g;
      insert into postrider.route (namespace, topic)
      select distinct 'bench', f.topic from fresh f
       where not exists (
         select from postrider.route r where r.namespace = 'bench' and r.topic = f.topic);
      insert into postrider.ordering_key (namespace, key, last_sequence)
      select 'bench', f.key, 0 from fresh f where f.key is not null group by f.key
      on conflict do nothing;
      create temp table numbered on commit drop as
      select f.*, r.id as route, r.fans_out, k.id as key_id,
             k.last_sequence + row_number() over (partition by f.key order by f.g) as sequence
        from fresh f
        join postrider.route r on r.namespace = 'bench' and r.topic = f.topic and r.subscription = ''
        left join postrider.ordering_key k
          on k.namespace = 'bench' and k.key = f.key and k.generation = 0;
      update postrider.ordering_key k set last_sequence = n.last
        from (select key_id, max(sequence) as last from numbered group by key_id) n
       where k.id = n.key_id;
      insert into postrider.message (
        id, created_at, key_id, sequence, route, is_json, tenant, ordering_key, payload)
      select n.id, now(), n.key_id, n.sequence, n.route, true, n.tenant, n.key,
             convert_to(n.payload, 'UTF8')
        from numbered n order by n.g;
      insert into postrider.queue (id, key_id, sequence, route, size, lane)
      select n.id, n.key_id, coalesce(n.sequence, postrider.id_number(n.id)),
             case when n.fans_out then -n.route else n.route end, octet_length(n.payload), postrider.lane_of(n.tenant)
        from numbered n order by n.g;
      """;

  private static final String TOPICS =
      """
      insert into postrider.route (namespace, topic)
      select 'bench', %s from generate_series(1, %d) g order by g on conflict do nothing
      """;

  private static final String KEYS =
      """
      insert into postrider.ordering_key (namespace, key, last_sequence)
      select 'bench', %s, 0 from generate_series(1, %d) g order by g on conflict do nothing
      """;

  private final BenchDatabase database;
  private final Schema schema;

  Backlog(BenchDatabase database, Schema schema) {
    this.database = database;
    this.schema = schema;
  }

  /** Removes all messages. Topics and keys stay known. */
  void clear() throws SQLException {
    execute("truncate postrider.queue, postrider.message, postrider.attempt");
  }

  void load(Shape shape, int messages) throws SQLException {
    try (Connection connection = database.transaction();
        Statement statement = connection.createStatement()) {
      for (int from = 1; from <= messages; from += CHUNK) {
        int to = Math.min(messages, from + CHUNK - 1);
        statement.execute(
            schema.sql(
                LOAD.formatted(shape.topic(), shape.key(), shape.tenant(), Payload.SQL, from, to)));
        connection.commit();
      }
    }
  }

  /** An id between those of the messages that are there and those that come later. */
  String mark() throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(schema.sql("select postrider.new_id()"))) {
      row.next();
      return row.getString(1);
    }
  }

  /** Takes messages that came after the mark out of the queue. */
  void dropSince(String mark) throws SQLException {
    execute("delete from postrider.queue where id > '" + mark + "'");
  }

  /**
   * Makes topics known.
   *
   * @param topic SQL for the name of topic number g, counted from 1
   */
  void topics(String topic, int count) throws SQLException {
    execute(TOPICS.formatted(topic, count));
  }

  /**
   * Makes ordering keys known, numbered in this order.
   *
   * @param key SQL for the name of key number g, counted from 1
   */
  void keys(String key, int count) throws SQLException {
    execute(KEYS.formatted(key, count));
  }

  private void execute(String sql) throws SQLException {
    database.execute(schema.sql(sql));
  }
}

package dev.postrider.internal.protocol;

import dev.postrider.testing.TestDatabase;

/** Fills a queue with keys that cannot go, many at a time. */
final class Jam {
  /** Why the first message of a key cannot go. */
  enum Cause {
    /** It failed and is tried again in an hour. */
    BACKOFF(2),
    /** It is dead, and its key waits for an operator. */
    BLOCKED(4);

    private final int outcome;

    Cause(int outcome) {
      this.outcome = outcome;
    }
  }

  private static final String FAIL =
      """
      with claimed as materialized (
        select * from postrider.claim(postrider.worker_id('jam'), 5000, 1000000000, 60000,
          array(select id from postrider.route))),
      settled as materialized (
        select count(*) as n,
               postrider.settle(postrider.worker_id('jam'), array_agg(id), array_agg(token),
                 array_agg(%d::smallint), null, array_agg(3600000::bigint), array_agg('bad'::text))
          from claimed having count(*) > 0)
      select coalesce(max(n), 0) from settled
      """;

  private final TestDatabase database;

  Jam(TestDatabase database) {
    this.database = database;
  }

  /** One message of each of these keys, which are named after their numbers. */
  void send(String topic, String prefix, int keys) {
    database.execute(
        "select count(postrider.enqueue('shop', '%s', '{}', key => '%s' || i)) from generate_series(1, %d) i"
            .formatted(topic, prefix, keys));
  }

  /** So many messages of one key. */
  void run(String topic, String key, int count) {
    database.execute(
        "select count(postrider.enqueue('shop', '%s', '{}', key => '%s')) from generate_series(1, %d)"
            .formatted(topic, key, count));
  }

  /** Whatever can be claimed now fails. */
  void failAll(Cause cause) {
    while (database.count(FAIL.formatted(cause.outcome)) > 0) {
      // the next ones
    }
  }

  /** Keys whose first message cannot go, each with so many behind it. */
  void stuck(String topic, String prefix, int keys, int followers, Cause cause) {
    send(topic, prefix, keys);
    failAll(cause);
    for (int i = 0; i < followers; i++) {
      send(topic, prefix, keys);
    }
  }

  /**
   * New keys whose first message is dead, each with one behind it: written, not sent and failed.
   */
  void blockedAtOnce(String topic, String prefix, int keys) {
    database.execute(
        """
        with keys as (
          insert into postrider.ordering_key (namespace, key, last_sequence)
          select 'shop', '%2$s' || i, 2 from generate_series(1, %3$d) i returning id, key),
        topic as materialized (select postrider.intern_route('shop', '%1$s') as route),
        messages as (
          insert into postrider.message (id, created_at, key_id, sequence, route, is_json, ordering_key, payload)
          select postrider.new_id(), now(), k.id, n, t.route, true, k.key, '{}'
            from topic t cross join keys k cross join generate_series(1, 2) n
          returning id, key_id, sequence, route)
        insert into postrider.queue (id, key_id, sequence, route, size, lane, due_at, blocked)
        select m.id, m.key_id, m.sequence, m.route, 2, case m.sequence when 1 then -1 else 0 end,
               case m.sequence when 1 then 'infinity'::timestamptz end, m.sequence = 1 from messages m
        """
            .formatted(topic, prefix, keys));
  }
}

package dev.postrider.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Stands in for a relay: claims what is due and settles it at once, by the functions relays use.
 */
public final class Courier {
  private static final String CARRY =
      """
      with claimed as materialized (
        select * from postrider.claim(postrider.worker_id('courier'), 1000, 1000000000, 60000,
          array(select id from postrider.route))),
      settled as materialized (
        select array_agg(id order by key_id, sequence, id) as ids,
               postrider.settle(postrider.worker_id('courier'), array_agg(id), array_agg(token), array_agg(%d::smallint), null, null,
                 array_agg('%s'::text), array_agg('it broke'::text))
          from claimed having count(*) > 0)
      select unnest(ids) from settled
      """;

  private final TestDatabase database;

  public Courier(TestDatabase database) {
    this.database = database;
  }

  /** Delivers all there is; returns the ids in the order of delivery. */
  public List<UUID> deliver() {
    return carry(1, "ok");
  }

  /** Gives up all there is. */
  public List<UUID> kill(String code) {
    return carry(3, code);
  }

  /** Gives up the heads of all keys, so that their followers wait. */
  public List<UUID> block(String code) {
    return once(4, code);
  }

  private List<UUID> carry(int outcome, String code) {
    List<UUID> all = new ArrayList<>();
    List<UUID> some = once(outcome, code);
    while (!some.isEmpty()) {
      all.addAll(some);
      some = once(outcome, code);
    }
    return all;
  }

  private List<UUID> once(int outcome, String code) {
    return database.column(CARRY.formatted(outcome, code)).stream().map(UUID::fromString).toList();
  }

  /** Enqueues a message given by the arguments of the SQL function. */
  public UUID enqueue(String arguments) {
    return UUID.fromString(
        database.value("select id from postrider.enqueue(" + arguments + ", payload => '{}')"));
  }

  public String state(UUID id) {
    return database.value(
        "select state || ' ' || delivery || '.' || attempts from postrider.message_state"
            + " where id = '"
            + id
            + "'");
  }
}

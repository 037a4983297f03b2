package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code status} costs does not depend on how much waits. */
@Tag("OP-1")
@Tag("PO-11")
class StatusCostTest {
  /**
   * All that the statements of the command touched, and those of the test itself, which are few.
   */
  private static final String BLOCKS =
      """
      select blks_hit + blks_read from pg_stat_database where datname = current_database()
      """;

  private static final String OTHERS =
      """
      select count(*) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
      """;

  @TempDir Path folder;

  @Test
  void tenTimesAsManyPendingAreReadWithTheSameWork() throws Exception {
    Desk desk = Desk.ready(folder);
    desk.execute(
        """
        do $$ declare t regclass; begin -- its work would count as well
          for t in select oid from pg_class
            where relkind = 'r' and relnamespace = 'postrider'::regnamespace loop
            execute format('alter table %s set (autovacuum_enabled = false)', t);
          end loop;
        end $$;
        select postrider.enqueue('shop', 'orders', '{}')
        """);
    fill(desk, 20_000);
    long few = blocksOfStatus(desk);
    fill(desk, 180_000);
    long many = blocksOfStatus(desk);
    assertThat(desk.run("status").ok()).containsPattern("~(19|20)\\d,\\d{3} pending");
    assertThat(many).isLessThan(few * 3 / 2);
  }

  private static void fill(Desk desk, int count) {
    desk.execute(
        """
        with r as (select id from postrider.route where topic = 'orders'),
        m as (insert into postrider.message (id, created_at, route, payload)
              select postrider.new_id(), now(), r.id, '{}'
                from r, generate_series(1, %d) returning id, route)
        insert into postrider.queue (id, sequence, route, size, lane)
        select id, postrider.id_number(id), route, 2, 0 from m
        """
            .formatted(count));
    desk.execute("vacuum analyze postrider.queue");
  }

  private static long blocksOfStatus(Desk desk) {
    desk.run("status").ok(); // what is read for the first time is read from somewhere else
    long before = blocks(desk);
    desk.run("status").ok();
    return blocks(desk) - before;
  }

  /** A session's share is counted when it ends. */
  private static long blocks(Desk desk) {
    await().until(() -> desk.value(OTHERS).equals("0"));
    return Long.parseLong(desk.value(BLOCKS));
  }
}

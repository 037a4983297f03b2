package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.server.Desk;
import dev.postrider.testkit.TestPostgres;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nothing that the console asks reads a big table from its start to its end. */
@Tag("OP-2")
@Timeout(120)
class ConsolePlanTest {
  private static final int MESSAGES = 20_000;

  /** PostgreSQL counts them itself, also those inside of functions. Empty tables cost nothing. */
  private static final String SCANS =
      """
      select relname || ' ' || seq_scan from pg_stat_user_tables
       where schemaname = 'postrider' and seq_scan > 0 and pg_relation_size(relid) > 0
         and (relname ~ '^(message|attempt)' or relname in ('queue', 'dead_letter'))
       order by 1
      """;

  private static void fill(Desk desk) {
    desk.postgres.execute("select postrider.ensure_partitions(1)");
    for (int i = 0; i < 60; i++) {
      desk.enqueue("'shop', 'bills', key => 'b" + i + "'");
    }
    desk.carry(4, "http_422");
    desk.enqueue("'shop', 'orders'");
    desk.carry(1, "");
    desk.postgres.execute(
        """
        insert into postrider.message (id, created_at, route, is_json, event_type, tenant, aggregate_type,
            aggregate_id, payload)
        select postrider.new_id(), now(), r.id, true, 'placed', 't' || n %% 20, 'order', n %% 100, '{"n": 1}'
          from generate_series(1, %1$d) n, postrider.route r where r.topic = 'orders';
        insert into postrider.attempt (message_id, claimed_at, finished_at, no, delivery, state, latency_ms)
        select id, now(), now(), 1, 1, 1, 3 from postrider.message;
        insert into postrider.dead_letter (message_id, delivery, route, attempts, died_at, code, error)
        select m.id, 1, m.route, 1, now(), 'http_500', 'order ' || m.aggregate_id || ' is locked'
          from postrider.message m where m.event_type = 'placed';
        select postrider.enqueue('shop', 'orders', '{}', key => 'k' || n %% 50)
          from generate_series(1, 3000) n
        """
            .formatted(MESSAGES));
    desk.postgres.execute("vacuum analyze");
  }

  private static List<String> pages(Desk desk) {
    String id =
        desk.postgres.column("select id from postrider.queue order by id desc limit 1").get(0);
    String head =
        desk.postgres.column("select message_id from postrider.dead_letter limit 1").get(0);
    return List.of(
        "/v1/status",
        "/v1/messages?limit=50",
        "/v1/messages?limit=50&state=pending",
        "/v1/messages?limit=50&namespace=shop&topic=bills",
        "/v1/messages?limit=50&namespace=shop&key=k1",
        "/v1/messages?limit=50&tenant=t1",
        "/v1/messages?limit=50&event_type=none",
        "/v1/messages?limit=50&aggregate_type=order&aggregate_id=7",
        "/v1/messages/" + id,
        "/v1/messages/" + id + "/why",
        "/v1/messages/" + id + "/neighbours",
        "/v1/messages/" + head,
        "/v1/messages/" + head + "/why",
        "/v1/dead?limit=20&order=newest&namespace=shop&topic=orders&code=http_500",
        "/v1/dead/groups",
        "/v1/keys/blocked?limit=50",
        "/v1/leases?limit=100",
        "/v1/replays?limit=20",
        "/v1/audit?limit=50",
        "/v1/retention");
  }

  /** A session reports the rest of what it did when it ends. */
  private static void awaitEndOfSessions(TestPostgres postgres) {
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                postgres.count(
                        "select count(*) from pg_stat_activity where datname = current_database()"
                            + " and pid <> pg_backend_pid() and backend_type = 'client backend'")
                    == 0);
  }

  @Test
  void everyPageIsReadByIndex() {
    Desk filling = Desk.pooled(server -> server);
    List<String> pages;
    try {
      fill(filling);
      pages = pages(filling);
    } finally {
      filling.close();
    }
    awaitEndOfSessions(filling.postgres);
    filling.postgres.execute("select pg_stat_reset()");
    Desk desk = Desk.pooled(filling.postgres, server -> server);
    try {
      for (String page : pages) {
        assertThat(desk.get(desk.viewer, page).status()).as(page).isEqualTo(200);
      }
      try (Visit visit = Browser.signedIn(desk, desk.viewer)) {
        visit.page.waitForSelector(".plot canvas");
        visit.until("document.querySelector('.plot').ariaLabel.includes('enqueued 0')");
      }
    } finally {
      desk.close();
    }
    awaitEndOfSessions(desk.postgres);
    assertThat(
            desk.postgres.count(
                "select sum(idx_scan) from pg_stat_user_tables where schemaname = 'postrider'"))
        .isPositive();
    assertThat(desk.postgres.column(SCANS)).isEmpty();
  }
}

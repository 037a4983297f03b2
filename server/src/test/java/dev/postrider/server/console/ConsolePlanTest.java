package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.server.Desk;
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

  /** PostgreSQL counts them itself, also those inside of functions. */
  private static final String SCANS =
      """
      select relname || ' ' || seq_scan from pg_stat_user_tables
       where schemaname = 'postrider' and seq_scan > 0
         and (relname ~ '^(message|attempt)' or relname in ('queue', 'dead_letter'))
       order by 1
      """;

  private static void fill(Desk desk) {
    desk.postgres.execute(
        """
        select postrider.ensure_partitions(1);
        select postrider.enqueue('shop', 'orders', '{}', key => 'k' || n %% 50, tenant => 't' || n %% 20,
                 event_type => 'placed', aggregate_type => 'order', aggregate_id => (n %% 100)::text)
          from generate_series(1, %d) n
        """
            .formatted(MESSAGES));
    desk.carry(1, "");
    desk.postgres.execute(
        "select postrider.enqueue('shop', 'bills', '{}', key => 'b' || n) from generate_series(1, 2000) n");
    desk.carry(4, "http_422");
    desk.carry(3, "http_500");
    desk.postgres.execute(
        "select postrider.enqueue('shop', 'orders', '{}', key => 'k' || n % 50)"
            + " from generate_series(1, 5000) n");
    desk.postgres.execute("vacuum analyze");
  }

  private static List<String> pages(Desk desk) {
    String id = desk.postgres.column("select id from postrider.queue order by id desc limit 1").get(0);
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
        "/v1/dead?limit=20&order=newest&namespace=shop&topic=bills&code=http_422",
        "/v1/dead/groups",
        "/v1/keys/blocked?limit=50",
        "/v1/leases?limit=100",
        "/v1/replays?limit=20",
        "/v1/audit?limit=50",
        "/v1/retention");
  }

  @Test
  void everyPageIsReadByIndex() {
    Desk desk = Desk.pooled(server -> server);
    try {
      fill(desk);
      desk.postgres.execute("select pg_stat_reset()");
      for (String page : pages(desk)) {
        assertThat(desk.get(desk.viewer, page).status()).as(page).isEqualTo(200);
      }
      try (Visit visit = Browser.signedIn(desk, desk.viewer)) {
        visit.page.waitForSelector(".plot canvas");
        visit.until("document.querySelector('.plot').ariaLabel.includes('enqueued 0')");
      }
    } finally {
      desk.close(); // its sessions report what they did when they end
    }
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                desk.postgres.count(
                        "select count(*) from pg_stat_activity where datname = current_database()"
                            + " and pid <> pg_backend_pid() and backend_type = 'client backend'")
                    == 0);
    assertThat(
            desk.postgres.count(
                "select sum(idx_scan) from pg_stat_user_tables where schemaname = 'postrider'"))
        .isPositive();
    assertThat(desk.postgres.column(SCANS)).isEmpty();
  }
}

package dev.postrider.server.console;

import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.embedded.EmbeddedServer;
import dev.postrider.server.Desk;
import dev.postrider.testkit.TestPostgres;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Measures what open consoles cost the database, with many messages stored. Not part of the tests:
 * run it with {@code -Dtest=ConsoleCost -Dconsole.messages=5000000 -Dconsole.data=DIRECTORY}. The
 * directory keeps the database for the next run. With {@code -Dconsole.load=true} it only makes it.
 */
class ConsoleCost {
  private static final double MEASURED_MS = 20_000;

  /** Until all have loaded, and sessions have reported to the statistics. */
  private static final double SETTLE_MS = 6_000;

  private static final List<String> OVERVIEW = List.of("");
  private static final List<String> ALL =
      List.of(
          "",
          "messages",
          "messages/{dead}",
          "messages/{pending}",
          "dead",
          "keys",
          "tail",
          "relays",
          "topics",
          "audit");

  private static void load(Desk desk, int messages) {
    desk.postgres.execute(
        """
        select postrider.ensure_partitions(1);
        insert into postrider.route (namespace, topic) values ('shop', 'orders');
        insert into postrider.message (id, created_at, route, is_json, event_type, payload)
        select postrider.new_id(), now(), 1, true, 'placed', '{"n": 1}'
          from generate_series(1, %d);
        insert into postrider.attempt (
          message_id, claimed_at, finished_at, no, delivery, state, latency_ms)
        select id, now(), now(), 1, 1, 1, 3 from postrider.message;
        select postrider.enqueue('shop', 'topic-' || n %% 20, '{}', key => 'key-' || n %% 500)
          from generate_series(1, 20000) n;
        select postrider.enqueue('shop', 'mails', '{}') from generate_series(1, 12000);
        insert into postrider.dead_letter (
          message_id, delivery, route, attempts, died_at, code, error)
        select q.id, 1, q.route, 1, now(), 'http_' || 400 + n %% 30, 'order ' || n || ' is locked'
          from (select q.*, row_number() over () as n from postrider.queue q
                  join postrider.route r on r.id = q.route where r.topic = 'mails') q;
        delete from postrider.queue q using postrider.route r
         where r.id = q.route and r.topic = 'mails';
        """
            .formatted(messages));
    desk.postgres.execute("vacuum analyze");
    desk.postgres.execute("checkpoint");
  }

  private static double activeMs(Desk desk) {
    String sql = "select active_time from pg_stat_database where datname = current_database()";
    return Double.parseDouble(desk.postgres.column(sql).get(0));
  }

  private static String one(Desk desk, String sql) {
    return desk.postgres.column(sql).get(0);
  }

  /** Milliseconds that sessions of this database spent in statements, for each second. */
  private static double databaseMsPerSecond(Desk desk, int consoles, List<String> pages) {
    String dead = one(desk, "select message_id from postrider.dead_letter limit 1");
    String pending = one(desk, "select id from postrider.queue limit 1");
    List<Visit> visits = new ArrayList<>();
    try {
      for (int i = 0; i < consoles; i++) {
        String token = desk.token(NewToken.of(Desk.name("viewer"), Role.VIEWER)).secret();
        String page = pages.get(i % pages.size());
        visits.add(
            Browser.signedIn(desk, token)
                .open(page.replace("{dead}", dead).replace("{pending}", pending)));
      }
      Visit clock = visits.isEmpty() ? Browser.visit(desk, 1280, false) : visits.get(0);
      clock.page.waitForTimeout(SETTLE_MS);
      double before = activeMs(desk);
      long start = System.nanoTime();
      clock.page.waitForTimeout(MEASURED_MS);
      double seconds = (System.nanoTime() - start) / 1e9;
      return (activeMs(desk) - before) / seconds;
    } finally {
      visits.forEach(Visit::close);
    }
  }

  private static void report(Desk desk, int consoles, String what, List<String> pages) {
    System.out.printf(
        "%d consoles, %s: %.1f ms of database time per second%n",
        consoles, what, databaseMsPerSecond(desk, consoles, pages));
  }

  @Test
  void measure() {
    EmbeddedServer.Builder builder = EmbeddedServer.builder();
    String directory = System.getProperty("console.data");
    if (directory != null) {
      builder.dataDirectory(Path.of(directory));
    }
    try (TestPostgres postgres = TestPostgres.on(builder.start())) {
      postgres.execute("delete from postrider.token"); // those of the last run
      measure(postgres);
    }
  }

  private static void measure(TestPostgres postgres) {
    try (Desk desk = Desk.pooled(postgres, server -> server)) {
      if (postgres.count("select count(*) from postrider.route") == 0) {
        load(desk, Integer.getInteger("console.messages", 100_000));
      }
      System.out.println(
          one(
              desk,
              "select n_live_tup || ' messages stored' from pg_stat_user_tables"
                  + " where schemaname = 'postrider' and relname ~ '^message' order by n_live_tup desc"));
      if (!Boolean.getBoolean("console.load")) {
        report(desk, 0, "nobody watches", OVERVIEW);
        report(desk, 1, "overview", OVERVIEW);
        report(desk, 10, "overview", OVERVIEW);
        report(desk, 10, "one on each page", ALL);
      }
    }
  }
}

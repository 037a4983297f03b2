package dev.postrider.server.console;

import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.server.Desk;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Measures what open consoles cost the database, with many messages stored. Not part of the tests:
 * run it with {@code -Dtest=ConsoleCost -Dconsole.messages=5000000}.
 */
class ConsoleCost {
  private static final double MEASURED_MS = 30_000;

  /** Until all have loaded, and sessions have reported to the statistics. */
  private static final double SETTLE_MS = 8_000;

  private static double activeMs(Desk desk) {
    String sql = "select active_time from pg_stat_database where datname = current_database()";
    return Double.parseDouble(desk.postgres.column(sql).get(0));
  }

  /** Milliseconds that sessions of this database spent in statements, for each second. */
  private static double databaseMsPerSecond(Desk desk, int consoles) {
    List<Visit> visits = new ArrayList<>();
    try {
      for (int i = 0; i < consoles; i++) {
        String token = desk.token(NewToken.of(Desk.name("viewer"), Role.VIEWER)).secret();
        visits.add(Browser.signedIn(desk, token));
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

  @Test
  void measure() {
    int messages = Integer.getInteger("console.messages", 100_000);
    try (Desk desk = Desk.pooled(server -> server)) {
      desk.postgres.execute("select postrider.ensure_partitions(1)");
      desk.postgres.execute(
          """
          insert into postrider.route (namespace, topic) values ('shop', 'orders');
          insert into postrider.message (id, created_at, route, is_json, event_type, payload)
          select postrider.new_id(), now(), 1, true, 'placed', '{"n": 1}'
            from generate_series(1, %d);
          insert into postrider.attempt (
            message_id, claimed_at, finished_at, no, delivery, state, latency_ms)
          select id, now(), now(), 1, 1, 1, 3 from postrider.message
          """
              .formatted(messages));
      desk.postgres.execute("vacuum analyze");
      for (int consoles : new int[] {0, 1, 10}) {
        System.out.printf(
            "%d messages stored, %d consoles: %.1f ms of database time per second%n",
            messages, consoles, databaseMsPerSecond(desk, consoles));
      }
    }
  }
}

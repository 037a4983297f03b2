package dev.postrider.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Fan-out, the count of what waits and a discard read about as many rows of the queue as they
 * change, however long it is: the plans are run with counts.
 */
@Tag("EN-23")
@Timeout(120)
class SubscriptionPlanTest {
  private static final int WAITING = 20_000;
  private static final int MOST = 3_000;
  private static final Pattern SCAN =
      Pattern.compile(
          "(?m)^.* Scan.* on queue.*actual [^)]*rows=([\\d.]+) loops=(\\d+).*\\n"
              + "((?: ++(?!->).*\\n)*)");
  private static final Pattern REMOVED = Pattern.compile("Rows Removed by Filter: (\\d+)");

  private final TestDatabase database = TestDatabase.create(version());

  int version() {
    return 18;
  }

  private void fill(String key) {
    database.execute(
        """
        select count(postrider.enqueue('shop', 'orders', '{}', key => %s, tenant => 't' || g %% 5))
          from generate_series(1, %d) g
        """
            .formatted(key, WAITING / 2));
  }

  /** The most rows of the queue that one part of the plans looked at. */
  private double read(String sql) throws Exception {
    double most = 0;
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          """
          set auto_explain.log_min_duration = 0;
          set auto_explain.log_nested_statements = on;
          set auto_explain.log_analyze = on;
          set auto_explain.log_timing = off;
          set client_min_messages = log
          """);
      statement.execute(sql);
      List<String> plans = new ArrayList<>();
      for (SQLWarning note = statement.getWarnings(); note != null; note = note.getNextWarning()) {
        plans.add(note.getMessage() + "\n");
      }
      assertThat(plans).as(sql).anyMatch(plan -> SCAN.matcher(plan).find());
      for (String plan : plans) {
        double seen = seen(plan);
        assertThat(seen).as(plan).isLessThanOrEqualTo(MOST);
        most = Math.max(most, seen);
      }
    }
    return most;
  }

  private static double seen(String plan) {
    double most = 0;
    Matcher scan = SCAN.matcher(plan);
    while (scan.find()) {
      Matcher removed = REMOVED.matcher(scan.group(3));
      double each =
          Double.parseDouble(scan.group(1))
              + (removed.find() ? Double.parseDouble(removed.group(1)) : 0);
      most = Math.max(most, each * Double.parseDouble(scan.group(2)));
    }
    return most;
  }

  private static final String FAN_OUT =
      "select postrider.fan_out(array(select id from postrider.route where fans_out), 1000, '{}')";

  /** The plans are made while the queue is empty, as in a relay that has been idle. */
  @Test
  void aFanOutReadsWhatItTakes() throws Exception {
    database.execute("select postrider.subscription_add('ann', 'shop', 'orders', 'mail')");
    for (String key : List.of("'one'", "'k' || g", "null")) {
      fill(key);
    }
    database.execute("analyze postrider.queue");
    for (int step = 0; step < 3; step++) {
      assertThat(read(FAN_OUT)).isPositive();
    }
  }

  @Test
  void aFanOutReadsAFewOfManyTenants() throws Exception {
    database.execute("select postrider.subscription_add('ann', 'shop', 'orders', 'mail')");
    database.execute(
        """
        select count(postrider.enqueue('shop', 'orders', '{}', tenant => 't' || g))
          from generate_series(1, %d) g
        """
            .formatted(WAITING));
    assertThat(read(FAN_OUT)).isPositive();
  }

  /** The default subscription has a long backlog of the keys of which new messages come. */
  @Test
  void aFanOutDoesNotReadTheBacklogOfTheDefaultSubscription() throws Exception {
    fill("'one'");
    fill("'k' || g % 10");
    database.execute("select postrider.subscription_add('ann', 'shop', 'orders', 'mail')");
    for (int i = 0; i < 10; i++) {
      database.execute(
          "select postrider.enqueue('shop', 'orders', '{}', key => k)"
              + " from unnest(array['one', 'k1', 'k2']) k");
    }
    assertThat(database.count("select count(*) from postrider.queue where route < 0"))
        .isEqualTo(30);
    assertThat(read(FAN_OUT)).isPositive();
    assertThat(database.count("select count(*) from postrider.queue where route < 0")).isZero();
  }

  @Test
  void aDiscardAndTheCountReadTheirSubscriptionOnly() throws Exception {
    fill("'k' || g");
    fill("null");
    database.execute("select postrider.subscription_add('ann', 'shop', 'orders', 'mail')");
    for (int i = 0; i < 5; i++) {
      database.execute("select (postrider.enqueue('shop', 'orders', '{}', key => 'one')).id");
    }
    for (String name : List.of("mail", "")) {
      String of = "'shop', 'orders', '" + name + "'";
      if (name.isEmpty()) {
        database.execute("select postrider.subscription_add('ann', 'shop', 'orders', 'audit')");
      } else {
        assertThat(read("select postrider.subscription_pending(" + of + ")")).isPositive();
      }
      read("select postrider.subscription_remove('ann', " + of + ")");
      read("select postrider.subscription_discard('ann', 'why', " + of + ", 1000)");
    }
  }
}

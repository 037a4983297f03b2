package dev.postrider.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs every statement of the queue's functions and reads the plans that the server used. None may
 * walk over the whole of the queue, the log or the attempts, be it by a sequential scan or by an
 * index entered at no place in particular: neither when the plans were made and cached while all
 * was empty, nor when it was full and has been drained since.
 */
@Timeout(120)
class QueryPlanTest {
  private static final Pattern SCAN =
      Pattern.compile(
          "(?m)^.* Scan.* on (queue|message|attempt|dead_letter)(?:_\\w+)? .*\\n\\s*(.*)$");

  /** Tests only set the scene with these; their own plans do not count. */
  private static final Pattern SCENE =
      Pattern.compile(
          "Query Text: \\s*(?:update|select postrider.settle\\(|.* from postrider.lease)");

  final TestDatabase database = TestDatabase.create(version());

  int version() {
    return 18;
  }

  @Test
  void plansMadeOnAnEmptyQueueHoldWhenItFills() throws Exception {
    try (Connection connection = explained()) {
      run(connection, "analyze");
      exercise(connection);
      fill();
      assertThat(exercise(connection)).isEmpty();
    }
  }

  @Test
  void plansMadeOnAFullQueueHoldWhenItIsDrained() throws Exception {
    fill();
    try (Connection connection = explained()) {
      run(connection, "analyze");
      assertThat(exercise(connection)).isEmpty();
      database.execute(
          """
          delete from postrider.queue
           where lease is null and id not in (select id from postrider.queue limit 9)
          """);
      assertThat(exercise(connection)).isEmpty();
    }
  }

  private void fill() {
    database.execute(
        """
        do $$ begin
          for i in 1..4000 loop
            perform postrider.enqueue('shop', 'orders', '{}', 'key-' || i % 7);
            perform postrider.enqueue('shop', 'bills', '{}');
          end loop;
        end $$
        """);
  }

  private Connection explained() throws SQLException {
    Connection connection = database.dataSource().getConnection();
    run(
        connection,
        """
        set auto_explain.log_min_duration = 0;
        set auto_explain.log_nested_statements = on;
        set client_min_messages = log
        """);
    return connection;
  }

  /** Goes through messages' lives; returns the scans that read a whole table. */
  private List<String> exercise(Connection connection) throws SQLException {
    List<String> scans = new ArrayList<>();
    for (String step : steps()) {
      for (String plan : run(connection, step)) {
        if (!SCENE.matcher(plan).find()) {
          scans.addAll(wholeScans(plan));
        }
      }
    }
    return scans;
  }

  private static List<String> steps() {
    String id = "'0197a000-0000-7000-8000-000000000000'";
    return List.of(
        "select postrider.enqueue('shop', 'orders', '{}', 'key-1')",
        "select postrider.enqueue('shop', 'bills', '{}', dedupe_key => 'd-' || now())",
        "select postrider.enqueue('shop', 'bills', '{}', dedupe_key => 'd-' || now())",
        claim("p_front => false"),
        claim(
            "p_search => false, p_cursor => (array[(2, 0, false, 1)::postrider.place], 2, 0, now())"),
        claim("p_alone => true"),
        settle(1),
        claim("p_front => false"),
        "select count(postrider.renew(token, 1000)) from postrider.lease",
        "select postrider.renew_held(1, postrider.new_id(), 1000)",
        "select postrider.renew_held(worker, ids[1], 1000) from postrider.lease",
        "set enable_seqscan = off", // with a handful of attempts it would be right
        "select * from postrider.attempt_history where message_id = " + id,
        "select * from postrider.message_state where id = " + id,
        "reset enable_seqscan",
        "select set_config('test.id', (postrider.enqueue('shop', 'orders', '{}', 'key-1')).id::text, false)",
        "select * from postrider.why(current_setting('test.id')::uuid)",
        "select set_config('test.id', (postrider.enqueue('shop', 'bills', '{}')).id::text, false)",
        "select * from postrider.why(current_setting('test.id')::uuid)",
        settle(2),
        claim("p_front => false"),
        settle(4),
        "update postrider.lease set claimed_at = '-infinity'",
        "select postrider.hide_followers(array[1, 2], array[1, 1], array[1, 2])",
        "select postrider.show_followers(array[1, 2]::bigint[])",
        "update postrider.queue set due_at = now() where lane < 0 and due_at < 'infinity'",
        "select postrider.promote(100, '-infinity')",
        claim("p_front => false"),
        "select postrider.settle_held(worker, ids, 3::smallint) from postrider.lease limit 1",
        claim("p_front => false"),
        "update postrider.lease set until = now() - interval '1 s'",
        "select postrider.reap()",
        "select * from postrider.ranges(array[1, 2], null, 64, true, true)",
        "select * from postrider.find_suspect(array[1, 2])",
        "select postrider.settle_held(1, array[postrider.new_id()], 1::smallint)");
  }

  private static String claim(String after) {
    return "select count(*) from postrider.claim_from(postrider.worker_id('ann'), 100, 1000000, 60000,"
        + " array[1, 2], "
        + after
        + ")";
  }

  /** Settles whatever is held, as a relay does: by place and token. */
  private static String settle(int outcome) {
    return """
        select postrider.settle(1, array_agg(id),
                 array_agg(lease), array_agg(%d::smallint), null, null, null, null,
                 array_agg('r'::text))
          from postrider.queue where lease is not null
        """
        .formatted(outcome);
  }

  private static List<String> wholeScans(String plan) {
    List<String> found = new ArrayList<>();
    Matcher scan = SCAN.matcher(plan);
    while (scan.find()) {
      if (!placed(scan.group(1), scan.group(2))) {
        found.add(scan.group() + "\n" + plan);
      }
    }
    return found;
  }

  /** Whether the scan enters its table by the leading column of an index. */
  private static boolean placed(String table, String condition) {
    String columns =
        switch (table) {
          case "queue" -> "route =|key_id =|due_at <|due_at >=";
          case "message" -> "id =|id >=|\\(id =";
          default -> "message_id =";
        };
    return Pattern.compile("TID Cond|(?:Index|Recheck) Cond: \\(+(" + columns + ")")
        .matcher(condition)
        .find();
  }

  private static List<String> run(Connection connection, String sql) throws SQLException {
    List<String> plans = new ArrayList<>();
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
      for (SQLWarning w = statement.getWarnings(); w != null; w = w.getNextWarning()) {
        plans.add(w.getMessage());
      }
    }
    return plans;
  }
}

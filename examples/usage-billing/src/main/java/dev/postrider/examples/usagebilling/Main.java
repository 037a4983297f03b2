package dev.postrider.examples.usagebilling;

import dev.postrider.enqueue.Outbox;
import dev.postrider.examples.stage.ChildProcess;
import dev.postrider.examples.stage.Stage;
import dev.postrider.relay.Relay;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;

/** Users chat, dispatchers are killed, and the books balance. */
public final class Main {
  // One statement, one snapshot: numbers that belong together.
  private static final String BOOKS =
      """
      select (select count(*) from mini_chat.debit) as debits,
             (select count(*) from postrider.message_state where namespace = 'mini-chat') as messages,
             (select count(*) from billing.ledger) as lines
      """;
  private static final String WAITING =
      "select count(*) from postrider.message_state"
          + " where namespace = 'mini-chat' and state in ('pending', 'processing')";

  /** What was debited, what was sent on its way, and what arrived. */
  private record Books(long debits, long messages, long lines) {
    boolean match() {
      return debits == messages && messages == lines;
    }
  }

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    Stage.run(Main.class, arguments, Map.of("policy", "ledger"), Main::play);
  }

  private static void play(Stage stage) throws Exception {
    QuotaPolicy policy = QuotaPolicy.named(stage.options().text("policy"));
    stage.say("chat turns, billed by the policy '%s'; Ctrl-C ends", policy.name());
    try (Users users = new Users(new Turns(stage.dataSource(), new Outbox()), stage)) {
      watch(stage, policy, users);
    }
    // Whatever the last killed dispatcher held is taken over when its lease is over.
    try (Relay last = UsageDispatcher.relay(stage.dataSource(), policy, "last").start()) {
      stage.untilNone(WAITING);
    }
    summary(stage);
  }

  /** Two dispatchers in processes of their own; now and then one is killed and replaced. */
  private static void watch(Stage stage, QuotaPolicy policy, Users users) throws Exception {
    ChildProcess[] replicas = {dispatcher(stage, policy, 0), dispatcher(stage, policy, 1)};
    for (int second = 1; stage.goesOn(Duration.ofSeconds(1)); second++) {
      report(stage, users);
      if (second % 4 == 3) {
        int victim = second / 4 % 2;
        replicas[victim].kill();
        stage.say("dispatcher %d killed (SIGKILL), a new one starts", victim);
        replicas[victim] = dispatcher(stage, policy, victim);
      }
    }
    for (ChildProcess replica : replicas) {
      replica.kill();
    }
  }

  private static ChildProcess dispatcher(Stage stage, QuotaPolicy policy, int number) {
    String name = "dispatcher-" + number + "-" + Long.toString(System.nanoTime(), 36);
    return ChildProcess.start(UsageDispatcher.class, stage.url(), policy.name(), name);
  }

  private static Books books(Stage stage) throws SQLException {
    try (Connection connection = stage.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(BOOKS)) {
      row.next();
      return new Books(row.getLong("debits"), row.getLong("messages"), row.getLong("lines"));
    }
  }

  private static void report(Stage stage, Users users) throws SQLException {
    Books books = books(stage);
    stage.say(
        "debits %4d   messages %4d   ledger %4d   races lost %4d",
        books.debits(), books.messages(), books.lines(), users.lost());
  }

  private static void summary(Stage stage) throws SQLException {
    Books books = books(stage);
    stage.say(
        "in the end: %d debits, %d messages, %d ledger lines: %s",
        books.debits(),
        books.messages(),
        books.lines(),
        books.match() ? "they match" : "THEY DO NOT MATCH");
    stage.say(
        "credits: %d used of the quotas, %d in the ledger",
        stage.count("select coalesce(sum(used), 0) from mini_chat.quota"),
        stage.count("select coalesce(sum(credits), 0) from billing.ledger"));
    stage.say(
        "%d messages were left behind by killed dispatchers and taken over",
        stage.count(
            "select count(*) from postrider.attempt_history where state = 'ZOMBIE_REQUEUE'"));
  }
}

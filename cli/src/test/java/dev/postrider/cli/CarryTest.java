package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.cli.Executable.Result;
import dev.postrider.cli.Executable.Running;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that stay: relay, up, tail. */
@Tag("OP-1")
class CarryTest {
  @TempDir Path folder;

  private static final Pattern DESTINATION = Pattern.compile("destination +stream");

  private static Map<?, ?> line(String text, int number) {
    return (Map<?, ?>) Executable.parsed(text.lines().toList().get(number));
  }

  @Test
  @Tag("HE-13")
  void theRelayGoesByItsConfigurationAndEndsInOrder() throws Exception {
    Desk desk = Desk.bare(folder);
    desk.run("relay").failed(2, "no route is configured");
    Files.writeString(
        folder.resolve("postrider.yaml"),
        """
        postrider:
          destinations:
            screen: {type: log}
          routes:
            - {namespace: shop, topic: orders, destination: screen}
        """);
    desk.run("relay").failed(4, "./postrider migrate");
    desk.run("migrate").ok();
    desk.run("enqueue", "-n", "shop", "-t", "orders", "-k", "a", "-p", "{\"n\":\n 1}").ok();
    desk.run("enqueue", "-n", "shop", "-t", "other", "-p", "{}").ok();
    try (Running relay = desk.postrider.start("relay", "--name", "night")) {
      await().until(() -> !relay.out().isEmpty());
      desk.run("enqueue", "-n", "shop", "-t", "orders", "-k", "a", "-p", "{\"n\": 2}").ok();
      await().until(() -> relay.out().lines().count() == 2);
      await()
          .untilAsserted(
              () ->
                  assertThat(desk.run("status").ok())
                      .contains("1 pending")
                      .containsPattern("night +\\S+ +\\S+ ago"));
      Result end = relay.interrupt();
      assertThat(end.exitCode()).isZero();
      assertThat(end.err()).contains("stopping", "stopped");
      assertThat(line(end.out(), 0).get("payload")).isEqualTo(Map.of("n", 1));
      assertThat(line(end.out(), 1).get("sequence")).isEqualTo(2);
    }
    assertThat(desk.column("select name from postrider.worker where stopped_at is null")).isEmpty();
  }

  @Test
  @Tag("OP-8")
  void aRelayProcessCarriesOutTheRetentionOfItsSettings() throws Exception {
    Desk desk = Desk.ready(folder);
    desk.execute(
        "insert into postrider.inbox (consumer, message_id, processed_at)"
            + " select 'c', gen_random_uuid(), now() - i * interval '1 d' from generate_series(1, 10) i");
    Files.writeString(
        folder.resolve("postrider.yaml"),
        """
        postrider:
          retention: {interval: 1s, inbox: 132h, audit: never}
          destinations: {screen: {type: log}}
          routes: [{namespace: shop, destination: screen}]
        """);
    try (Running relay = desk.postrider.start("relay")) {
      await()
          .until(
              () ->
                  desk.value("select count(*) from postrider.inbox").equals("5")
                      || !relay.process().isAlive());
      await().until(() -> relay.err().contains("event=outbox_retention_done task=inbox removed=5"));
      assertThat(desk.value("select count(*) from postrider.retention where task = 'audit'"))
          .isEqualTo("0");
      assertThat(relay.interrupt().exitCode()).as(relay.err()).isZero();
    }
  }

  /** A day of 30 delivered messages, and one that waits. */
  private static final String OLD_DAY =
      """
      set timezone = 'UTC';
      select from postrider.attach_days('message', array[current_date - 90], false);
      with m as (
        insert into postrider.message (id, created_at, route, payload)
        select overlay(postrider.id_floor(d.day)::text placing lpad(i::text, 12, '0') from 25 for 12)::uuid,
               d.day, r.id, '{}'
          from generate_series(1, 31) i, (select (current_date - 90)::timestamptz as day) d,
               postrider.intern_route('past', 'orders') r(id)
        returning id, route)
      insert into postrider.queue (id, sequence, route, size, lane)
      select id, postrider.id_number(id), route, 2, postrider.lane_of(null) from m order by id limit 1
      """;

  @Test
  @Tag("OP-8")
  void aDayIsArchivedAndWhatWaitsKeepsItsPartitionUntilItIsDelivered() throws Exception {
    Desk desk = Desk.ready(folder);
    desk.execute(OLD_DAY);
    String partitions =
        "select count(*) from postrider.partition where to_at < now() - interval '80 d'";
    Files.writeString(
        folder.resolve("postrider.yaml"),
        """
        postrider:
          retention: {interval: 1s}
          archive: {directory: old, retention: 60d}
          destinations: {screen: {type: log}}
          routes: [{namespace: shop, destination: screen}]
        """);
    try (Running relay = desk.postrider.start("relay")) {
      await()
          .until(
              () ->
                  relay.err().contains("event=outbox_retention_done task=messages removed=30")
                      || !relay.process().isAlive());
      assertThat(relay.interrupt().exitCode()).as(relay.err()).isZero();
    }
    assertThat(desk.value("select count(*) from postrider.message")).isEqualTo("1");
    assertThat(desk.value(partitions)).isEqualTo("1");
    assertThat(desk.run("archive", "--yes").ok())
        .isEqualTo("0 messages archived in 0 files, 0 partitions dropped, 1 kept.");
    desk.carry(Outcome.delivered(), DeadPolicy.SKIP);
    assertThat(desk.run("archive", "--yes").ok())
        .isEqualTo("1 message archived in 1 file, 1 partition dropped.");
    assertThat(desk.value(partitions)).isEqualTo("0");
    assertThat(desk.value("select sum(messages) from postrider.archive_file")).isEqualTo("31");
  }

  @Test
  @Tag("OP-8")
  void aPurgeLeavesWhatWaits() throws Exception {
    Desk desk = Desk.ready(folder);
    desk.execute(OLD_DAY);
    assertThat(desk.run("purge", "messages", "--older-than", "60d", "--yes").ok())
        .isEqualTo("30 rows removed.");
    assertThat(desk.value("select count(*) from postrider.message join postrider.queue using (id)"))
        .isEqualTo("1");
  }

  @Test
  void upStartsEverythingKeepsTheDataAndIsFoundByTheOthers() throws Exception {
    Executable postrider = Executable.in(folder);
    String id;
    try (Running up = postrider.start("up", "--port", "0")) {
      await().until(() -> up.err().contains("Ctrl-C ends it.") || !up.process().isAlive());
      assertThat(up.err())
          .contains(".postrider/data", "./postrider enqueue", "psql 'postgresql://");
      postrider
          .run("up")
          .failed(1, "another ./postrider up runs", "as process " + up.process().pid());
      // The very line it prints.
      String hint = up.err().lines().filter(l -> l.contains("./postrider enqueue")).toList().get(0);
      assertThat(hint.strip())
          .isEqualTo("./postrider enqueue -n demo -t hello -k ann -p '{\"text\": \"hello\"}'");
      id =
          postrider
              .run(
                  "enqueue",
                  "-n",
                  "demo",
                  "-t",
                  "hello",
                  "-k",
                  "ann",
                  "-p",
                  "{\"text\": \"hello\"}")
              .ok()
              .substring(0, 36);
      await().until(() -> up.out().contains(id));
      String tail = postrider.run("tail", "--payload", "--count", "1").ok();
      assertThat(tail).contains("delivered", "demo/hello", "ann#1", id, "{\"text\": \"hello\"}");
      assertThat(postrider.run("config").ok())
          .containsPattern(
              "database.url +jdbc:postgresql://127.0.0.1:\\d+/\\S+password=\\*+ +.postrider/up.json");
      postrider.run("doctor").ok();
      assertThat(up.interrupt().exitCode()).as(up.err()).isZero();
    }
    assertThat(folder.resolve(".postrider/up.json")).doesNotExist();
    postrider.run("status").failed(2, "no database is configured");
    try (Running again = postrider.start("up", "--port", "0")) {
      await().until(() -> again.err().contains("Ctrl-C ends it.") || !again.process().isAlive());
      assertThat(postrider.run("messages", "show", id).ok()).contains("delivered");
      await().until(() -> DESTINATION.matcher(postrider.run("messages", "show", id).ok()).find());
      again.process().destroyForcibly().waitFor(); // its server stays behind
    }
    try (Running third = postrider.start("up", "--port", "0")) {
      await().until(() -> third.err().contains("Ctrl-C ends it.") || !third.process().isAlive());
      assertThat(postrider.run("messages", "show", id).ok()).contains("delivered");
      assertThat(third.interrupt().exitCode()).isZero();
    }
  }

  @Test
  void upUsesTheDatabaseThatIsConfigured() throws Exception {
    Desk desk = Desk.bare(folder);
    try (Running up = desk.postrider.start("up")) {
      await().until(() -> up.err().contains("Ctrl-C ends it.") || !up.process().isAlive());
      String id = desk.run("enqueue", "-n", "a", "-t", "b", "-p", "{}").ok();
      await().until(() -> up.out().contains(id));
      assertThat(up.interrupt().exitCode()).isZero();
    }
    assertThat(folder.resolve(".postrider")).doesNotExist();
  }

  @Test
  void tailFollowsWhatIsDelivered() throws Exception {
    Desk desk = Desk.ready(folder);
    try (Running up = desk.postrider.start("up");
        Running tail = desk.postrider.start("tail", "--json", "--topic", "b", "--count", "3")) {
      await().until(() -> up.err().contains("Ctrl-C ends it.") || !up.process().isAlive());
      desk.execute("select postrider.enqueue('a', 'other', '{}')");
      for (int i = 0; i < 3; i++) {
        desk.execute("select postrider.enqueue('a', 'b', '{}', key => 'k')");
      }
      tail.awaitExit();
      List<Object> sequences =
          tail.out()
              .lines()
              .map(l -> (Object) ((Map<?, ?>) Executable.parsed(l)).get("sequence"))
              .toList();
      assertThat(sequences).containsExactly(1, 2, 3);
      assertThat(desk.run("tail", "--count", "1").ok()).contains("k#3").doesNotContain("k#2");
      assertThat(up.interrupt().exitCode()).isZero();
    }
  }

  @Test
  void theDemoHasSomethingToSeeEverywhere() throws Exception {
    Executable postrider = Executable.in(folder);
    try (Running up = postrider.start("up", "--demo", "--port", "0")) {
      await().until(() -> up.err().contains("Ctrl-C ends it.") || !up.process().isAlive());
      String seen =
          postrider.run("tail", "--namespace", "shop", "--count", "120", "--for", "50s").ok();
      assertThat(seen).contains("shop/orders", "shop/payments", "shop/mails", "customer-");
      assertThat(seen).contains("delivered", "retry", "timeout");
      assertThat(up.err())
          .as("failures that the demo makes up do not bury its welcome")
          .doesNotContain("outbox_publish_failed", "WARN");
      assertThat(up.interrupt().exitCode()).as(up.err()).isZero();
    }
  }
}

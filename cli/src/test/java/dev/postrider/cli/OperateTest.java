package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.cli.Executable.Result;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.text.Fingerprint;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RouteOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What operators look at and do. */
@Tag("OP-1")
class OperateTest {
  @TempDir Path folder;
  private Desk desk;

  @BeforeEach
  void open() throws Exception {
    desk = Desk.ready(folder);
  }

  private String send(String topic, String key) throws Exception {
    NewMessage.Builder message =
        NewMessage.to("shop", topic).json("{\"topic\": \"" + topic + "\"}").tenant("t1");
    return desk.enqueue(key == null ? message : message.key(key));
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> items(Result result) {
    return (List<Map<String, Object>>) result.json().get("items");
  }

  @Test
  void statusTellsWhatWaitsWhatIsDeadAndWhatIsPaused() throws Exception {
    send("orders", null);
    send("orders", null);
    desk.carry(Outcome.terminal("invalid", "no such account"), DeadPolicy.SKIP);
    send("orders", null);
    desk.run("pause", "topic", "shop/orders", "--actor", "ann").ok();
    String text = desk.run("status").ok();
    assertThat(text)
        .startsWith("1 pending, oldest ")
        .contains("0 in flight, 2 dead")
        .containsPattern("shop/orders +1 +\\S+ +2")
        .containsPattern("topic +shop/orders +ann");
    Map<String, Object> json = desk.run("status", "--json").json();
    assertThat(json).containsEntry("pending", 1).containsEntry("dead", 2);
    assertThat(json.get("paused").toString()).contains("shop/orders");
  }

  @Test
  @Tag("EN-23")
  void subscriptionsAreAddedListedPausedAndRemoved() throws Exception {
    assertThat(desk.run("subscriptions").ok()).isEmpty();
    assertThat(desk.run("subscriptions", "add", "shop/orders", "mail").ok()).contains("added");
    assertThat(desk.run("subscriptions", "add", "shop/orders", "mail").ok())
        .contains("was there already");
    desk.run("subscriptions", "add", "orders", "mail").failed(2, "namespace/topic");
    desk.run("subscriptions", "add", "shop/orders", "a b").failed(1, "letters, digits");
    send("orders", "k");
    desk.column("select postrider.fan_out(array[1], 1000, '{}')");
    assertThat(desk.run("subscriptions").ok())
        .containsPattern("shop/orders +default +active +1")
        .containsPattern("shop/orders +mail +active +1");
    assertThat(desk.run("status").ok()).containsPattern("shop/orders#mail +1");
    assertThat(desk.run("pause", "subscription", "shop/orders#mail").ok()).contains("paused");
    desk.run("pause", "subscription", "shop/orders#none").failed(1, "there is no subscription");
    desk.run("subscriptions", "remove", "shop/orders", "mail")
        .failed(2, "1 message waits for it; they are still delivered. Remove?", "give --yes");
    desk.postrider
        .with("JDK_JAVA_OPTIONS", "-Dpostrider.terminal=02")
        .reading("n\n")
        .run("subscriptions", "remove", "shop/orders", "mail")
        .failed(1, "nothing was changed");
    assertThat(desk.run("subscriptions").ok()).containsPattern("mail +active +1");
    assertThat(desk.run("subscriptions", "remove", "shop/orders", "mail", "--yes").ok())
        .contains("removed; 1 message waits for it");
    assertThat(desk.run("subscriptions").ok()).containsPattern("mail +removed +1");
    assertThat(
            desk.run(
                    "subscriptions",
                    "remove",
                    "shop/orders",
                    "mail",
                    "--yes",
                    "--json",
                    "--discard",
                    "--reason",
                    "not needed")
                .json())
        .containsEntry("changed", false)
        .containsEntry("discarded", 1)
        .containsEntry("pending", 0)
        .containsEntry("pending_at_least", false);
  }

  @Test
  @Tag("EN-23")
  void aMessageIsShownAndOperatedForEachSubscription() throws Exception {
    String alone = send("bills", "k");
    desk.carry(Outcome.delivered(), DeadPolicy.SKIP);
    desk.run("subscriptions", "add", "shop/orders", "mail").ok();
    String id = send("orders", "k");
    try (Relay relay =
        Relay.builder(desk.dataSource())
            .destination("here", HandlerDestination.inline(message -> Outcome.delivered()))
            .destination(
                "mail",
                HandlerDestination.inline(message -> Outcome.terminal("refused", "no mailbox")))
            .route("shop", "*", "here")
            .subscription(
                "shop",
                "orders",
                "mail",
                "mail",
                RouteOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withOnDead(DeadPolicy.BLOCK)))
            .build()
            .start()) {
      await()
          .untilAsserted(
              () ->
                  assertThat(desk.run("messages", "show", id).ok())
                      .containsPattern("default +delivered +here +1")
                      .containsPattern("mail +dead +mail +1 .*refused"));
      assertThat(desk.run("messages", "show", alone).ok()).doesNotContain("subscription");
      Map<String, Object> shown = desk.run("messages", "show", id, "--json").json();
      assertThat(shown.get("deliveries").toString()).contains("subscription=mail", "state=dead");
      assertThat(desk.run("tail", "--subscription", "mail", "--for", "1ms").ok())
          .contains("dead", "shop/orders#mail")
          .doesNotContain("delivered");
      assertThat(desk.run("tail", "--subscription", "default", "--for", "1ms").ok())
          .contains("delivered")
          .doesNotContain("#mail");
      assertThat(desk.run("keys").ok()).contains("orders#mail");
      desk.run("keys", "retry", "shop", "k").failed(1, "not blocked");
      desk.run("keys", "retry", "shop", "k", "--subscription", "mail").failed(2, "--topic");
      desk.run("keys", "retry", "shop", "k", "-t", "orders", "--subscription", "mial")
          .failed(1, "not blocked");
      desk.run("keys", "retry", "shop", "k", "-t", "orders", "--subscription", "mail").ok();
      await()
          .untilAsserted(
              () -> assertThat(desk.run("dead", "--subscription", "mail").ok()).contains("#mail"));
    }
    desk.run("dead", "discard", id, "--subscription", "default", "--reason", "r", "--yes")
        .failed(1, "not dead: " + id);
    assertThat(
            desk.run("dead", "discard", id, "--subscription", "mail", "--reason", "r", "--yes")
                .ok())
        .contains("1 dead letter discarded");
  }

  @Test
  @Tag("EN-23")
  void aSubscriptionBeginsInThePast() throws Exception {
    send("orders", "k");
    desk.carry(Outcome.delivered(), DeadPolicy.SKIP);
    desk.run("subscriptions", "add", "shop/orders", "mail", "--rate", "5").failed(2, "--from");
    desk.run("subscriptions", "add", "shop/orders", "mail", "--from", "1h", "--rate", "0")
        .failed(2, "--rate: must be above 0");
    assertThat(desk.run("subscriptions", "add", "shop/orders", "mail", "--from", "1h").ok())
        .contains("done: 1 message");
    assertThat(desk.run("subscriptions").ok()).containsPattern("mail +active +1");
    assertThat(desk.run("subscriptions", "add", "shop/orders", "mail", "--from", "1h").ok())
        .contains("was there already");
  }

  @Test
  void messagesAreFoundShownAndPaged() throws Exception {
    String first = send("orders", "k");
    String second = send("orders", "k");
    send("bills", null);
    desk.carry(Outcome.delivered("ref-7"), DeadPolicy.SKIP);

    Result page = desk.run("messages", "-n", "shop", "-k", "k", "--limit", "1", "--json");
    assertThat(items(page)).extracting(item -> item.get("id")).containsExactly(second);
    String next = page.json().get("next").toString();
    assertThat(items(desk.run("messages", "-n", "shop", "-k", "k", "--before", next, "--json")))
        .extracting(item -> item.get("id"))
        .containsExactly(first);
    assertThat(desk.run("messages", "--tenant", "t1", "--topic", "bills").ok())
        .contains("shop/bills", "delivered")
        .doesNotContain("orders");
    assertThat(desk.run("messages", "--from", "2100-01-01T00:00:00Z").ok())
        .isEqualTo("No message.");

    assertThat(desk.run("messages", "show", first).ok())
        .contains("delivered", "dispatched", "ref-7", "k, 1")
        .doesNotContain("{");
    Map<String, Object> shown = desk.run("messages", "show", first, "--payload", "--json").json();
    assertThat(shown.get("payload")).isEqualTo(Map.of("topic", "orders"));
    assertThat(shown.get("history").toString()).contains("reference=ref-7");
    desk.run("messages", "show", "00000000-0000-0000-0000-000000000000").failed(1, "no message");
    desk.run("messages", "show", "7").failed(2, "UUID");
  }

  @Test
  @Tag("OP-10")
  void aMessageTellsWhyItIsNotDelivered() throws Exception {
    String head = send("orders", "k");
    desk.carry(Outcome.terminal("invalid", "no such account"), DeadPolicy.BLOCK);
    String follower = send("orders", "k");
    assertThat(desk.run("messages", "why", head).ok()).startsWith("It is dead since ");
    assertThat(desk.run("messages", "why", follower).ok())
        .contains("It waits behind message " + head, "that message: It is dead");
    Map<String, Object> json = desk.run("messages", "why", follower, "--json").json();
    assertThat(json.get("reasons").toString()).contains("behind", "dead", head);
    String unknown = java.util.UUID.randomUUID().toString();
    desk.run("messages", "why", unknown).failed(1, "there is no message " + unknown);
  }

  @Test
  void deadLettersAreRequeuedAndDiscardedOnlyWhenSomebodySaysSo() throws Exception {
    String id = send("orders", null);
    send("orders", null);
    send("bills", null);
    desk.carry(Outcome.terminal("invalid", "no such account"), DeadPolicy.SKIP);
    assertThat(desk.run("dead", "--topic", "orders").ok())
        .contains(id, "invalid", "no such account");
    assertThat(desk.run("dead", "--code", "other").ok()).isEqualTo("No dead letter.");
    Result page = desk.run("dead", "--limit", "1", "--json");
    assertThat(items(desk.run("dead", "--after", page.json().get("next").toString(), "--json")))
        .hasSize(2);

    desk.run("dead", "requeue").failed(2, "which ones?");
    desk.run("dead", "requeue", "--topic", "orders")
        .failed(2, "Requeue 2 dead letters?", "give --yes");
    desk.run("dead", "discard", "--all", "--reason", "test").failed(2, "Discard 3", "--yes");
    desk.run("dead", "discard", "--all", "--yes").failed(2, "--reason");
    assertThat(desk.value("select count(*) from postrider.queue")).isEqualTo("0");

    assertThat(desk.run("dead", "requeue", id).ok()).isEqualTo("1 dead letter requeued.");
    desk.run("dead", "requeue", id).failed(1, "not dead: " + id);
    desk.run("replay", "--topic", "orders", "--rate", "-1", "--yes").failed(2, "--rate");
    assertThat(desk.value("select count(*) from postrider.replay_job")).isEqualTo("0");
    assertThat(desk.run("dead", "requeue", "--topic", "orders", "--yes", "--json").json())
        .containsEntry("requeued", 1);
    assertThat(
            desk.run("dead", "discard", "--all", "--yes", "--reason", "old", "--actor", "ann").ok())
        .isEqualTo("1 dead letter discarded.");
    assertThat(desk.column("select actor || ' ' || action from postrider.audit order by id desc"))
        .first()
        .isEqualTo("ann dead.discard");
    assertThat(desk.run("dead", "--discarded").ok()).contains("shop/bills", "old");
  }

  /** The commands that the console shows for its acts on groups and for its searches. */
  @Test
  @Tag("OP-2")
  void oneKindOfErrorIsRequeuedAndSearchesKnowStates() throws Exception {
    send("orders", null);
    desk.carry(Outcome.terminal("http_500", "disk full"), DeadPolicy.SKIP);
    String locked = send("orders", null);
    desk.carry(Outcome.terminal("http_500", "order 7 is locked"), DeadPolicy.SKIP);
    String until = java.time.Instant.now().plusSeconds(1).toString();
    String[] filter = {
      "--namespace",
      "shop",
      "--topic",
      "orders",
      "--code",
      "http_500",
      "--fingerprint",
      Fingerprint.of("order 8 is locked"),
      "--to",
      until,
      "--yes"
    };
    assertThat(desk.run(command("dead", "requeue", filter)).ok())
        .isEqualTo("1 dead letter requeued.");
    assertThat(items(desk.run("messages", "search", "--state", "pending", "--json")))
        .extracting(item -> item.get("id"))
        .containsExactly(locked);
    desk.run("messages", "search", "--state", "lost").failed(2, "--state");
    assertThat(
            desk.column(
                "select (detail ? 'ids') || ' ' || (detail -> 'filter' ? 'fingerprint')"
                    + " from postrider.audit"))
        .containsExactly("false true");
  }

  private static String[] command(String first, String second, String[] rest) {
    return Stream.concat(Stream.of(first, second), Stream.of(rest)).toArray(String[]::new);
  }

  @Test
  void blockedKeysAreListedRetriedAndSkipped() throws Exception {
    send("orders", "k");
    send("orders", "k");
    desk.carry(Outcome.terminal("invalid", "no such account"), DeadPolicy.BLOCK);
    assertThat(desk.run("keys").ok()).containsPattern("shop +k .* 1 .*invalid");
    desk.run("keys", "skip", "shop", "k", "--reason", "closed").failed(2, "--yes");
    desk.run("keys", "retry", "shop", "none").failed(1, "shop/none is not blocked");
    assertThat(desk.run("keys", "retry", "shop", "k").ok()).contains("tried again");
    desk.carry(Outcome.terminal("invalid", "no such account"), DeadPolicy.BLOCK);
    assertThat(desk.run("keys", "skip", "shop", "k", "--reason", "closed", "--yes").ok())
        .contains("goes on");
    desk.carry(Outcome.delivered(), DeadPolicy.BLOCK);
    assertThat(items(desk.run("keys", "--json"))).isEmpty();
  }

  @Test
  void whatIsPausedIsResumed() {
    assertThat(desk.run("pause", "destination", "rail", "--force").ok())
        .isEqualTo("destination rail paused");
    assertThat(desk.run("pause", "destination", "rail").ok()).contains("already");
    assertThat(desk.run("resume", "destination", "rail", "--json").json())
        .containsEntry("changed", true);
    assertThat(desk.run("resume", "destination", "rail").ok()).contains("was not paused");
  }

  @Test
  void replayCountsAsksAndSendsAgain() throws Exception {
    String id = send("orders", "k");
    send("orders", "k");
    send("bills", null);
    desk.carry(Outcome.delivered(), DeadPolicy.SKIP);
    String[] filter = {"replay", "--namespace", "shop", "--topic", "orders"};
    assertThat(desk.run("replay", "--topic", "orders", "--dry-run").ok())
        .startsWith("2 messages match, 2 would be sent again");
    desk.run(filter).failed(2, "2 messages match", "--yes");
    desk.run("replay").failed(2, "which messages?");
    assertThat(desk.value("select count(*) from postrider.replay_job")).isEqualTo("0");

    assertThat(desk.run("replay", "--topic", "orders", "--rate", "100", "--yes").ok())
        .isEqualTo("Replay 1 done: 2 messages sent again, 0 skipped.");
    assertThat(desk.column("select distinct delivery from postrider.queue")).containsExactly("2");
    desk.run("replay", "--id", id, "--yes").failed(1, "nothing to replay", "1 skipped");
    assertThat(items(desk.run("replay", "jobs", "--json")))
        .singleElement()
        .satisfies(job -> assertThat(job).containsEntry("state", "done"));
    desk.run("replay", "resume", "99").failed(1, "no replay job 99");
  }

  @Test
  void aReplayThatIsInterruptedGoesOnWhereItWas() throws Exception {
    desk.execute("select postrider.enqueue('shop', 'orders', '{}') from generate_series(1, 40)");
    desk.carry(Outcome.delivered(), DeadPolicy.SKIP);
    try (Executable.Running replay =
        desk.postrider.start("replay", "--topic", "orders", "--rate", "4", "--yes")) {
      org.awaitility.Awaitility.await()
          .until(
              () ->
                  !desk.column("select 1 from postrider.replay_job where requeued > 0").isEmpty());
      Result stopped = replay.interrupt();
      assertThat(stopped.exitCode()).isEqualTo(1);
      assertThat(stopped.out()).contains("Replay 1 stopped");
      assertThat(stopped.err()).contains("./postrider replay resume 1");
    }
    assertThat(desk.value("select state from postrider.replay_job")).isEqualTo("stopped");
    assertThat(desk.run("replay", "resume", "1").ok()).contains("Replay 1 done: 40 messages");
    assertThat(desk.value("select count(*) from postrider.queue")).isEqualTo("40");
  }

  @Test
  void archiveCountsAsksAndMovesOldMessagesToFiles() throws Exception {
    desk.execute(
        """
        select postrider.intern_route('shop', 'orders');
        insert into postrider.message (id, created_at, route, payload)
        select overlay(postrider.id_floor(now() - interval '90 days')::text placing lpad(i::text, 12, '0')
                 from 25 for 12)::uuid, now() - interval '90 days', 1, '{}' from generate_series(1, 30) i
        """);
    send("orders", null);
    assertThat(desk.run("archive", "--dry-run").ok()).containsPattern("message_default.* 30 ");
    desk.run("archive").failed(2, "Move 30 messages", "--yes");
    desk.run("archive", "--retention", "1h").failed(2, "--retention", "2d");
    Map<String, Object> report =
        desk.run("archive", "--directory", "old", "--retention", "60d", "--yes", "--json").json();
    assertThat(report).containsEntry("archived", 30);
    assertThat(desk.value("select count(*) from postrider.message")).isEqualTo("1");
    try (var files = Files.list(folder.resolve("old"))) {
      assertThat(files.count()).isEqualTo(1);
    }
    assertThat(desk.run("archive", "--yes").ok()).startsWith("0 messages archived");
    desk.run("purge", "messages", "--older-than", "60d", "--yes")
        .failed(1, "archived before they are removed", "./postrider archive --optional");
    desk.run("archive", "--optional").failed(2, "without archiving them", "--yes");
    assertThat(desk.run("archive", "--optional", "--yes").ok()).contains("without an archive");
    assertThat(desk.run("purge", "messages", "--older-than", "60d", "--yes").ok())
        .isEqualTo("0 rows removed.");
  }

  @Test
  @Tag("OP-8")
  void purgeAsksAndRemovesOldRows() throws Exception {
    desk.execute(
        """
        insert into postrider.inbox (consumer, message_id, processed_at)
        select 'c', gen_random_uuid(), now() - i * interval '1 d' from generate_series(1, 10) i
        """);
    desk.run("purge", "inbox").failed(2, "--older-than");
    desk.run("purge", "outbox", "--older-than", "5d", "--yes").failed(2, "outbox", "dedupe-keys");
    desk.run("purge", "inbox", "--older-than", "5d")
        .failed(2, "Remove inbox older than 5d", "--yes");
    desk.run("purge", "inbox", "--older-than", "5m", "--yes").failed(1, "at least 1 hour is kept");
    assertThat(desk.run("purge", "inbox", "--older-than", "132h", "--yes").ok())
        .isEqualTo("5 rows removed.");
    assertThat(desk.value("select count(*) from postrider.inbox")).isEqualTo("5");
    assertThat(desk.run("purge", "ordering-keys", "--older-than", "1d", "--yes", "--json").json())
        .containsEntry("removed", 0);
  }

  @Test
  @Tag("OP-8")
  void theAuditIsListedFilteredAndPurged() throws Exception {
    desk.execute(
        """
        insert into postrider.audit (at, actor, action, count)
        values (now() - interval '90 d', 'ann', 'old', 1), (now(), 'ann', 'dead.requeue', 7), (now(), 'bob', 'pause', null)
        """);
    assertThat(desk.run("audit").ok()).contains("ann", "bob", "dead.requeue").contains("old");
    assertThat(desk.run("audit", "list", "--by", "ann", "--from", "1d").ok())
        .contains("dead.requeue", "7")
        .doesNotContain("bob", "old");
    assertThat(desk.run("audit", "list", "--action", "nothing").ok()).isEqualTo("No entries.");
    desk.run("audit", "purge", "--older-than", "10d", "--yes").failed(1, "at least 30 days");
    assertThat(desk.run("audit", "purge", "--older-than", "60d", "--yes").ok())
        .isEqualTo("1 row removed.");
    assertThat(desk.column("select action from postrider.audit order by id"))
        .containsExactly("dead.requeue", "pause", "purge");
  }

  @Test
  void aRoleThatMayNotIsToldSo() {
    desk.run("migrate", "--roles").ok();
    desk.execute("create role viewer login password 'v'; grant postrider_reader to viewer");
    Executable viewer =
        desk.postrider
            .with("POSTRIDER_DATABASE_USER", "viewer")
            .with("POSTRIDER_DATABASE_PASSWORD", "v");
    viewer.run("status").ok();
    viewer.run("messages").ok();
    viewer.run("tail", "--for", "1ms").ok();
    viewer.run("pause", "topic", "a/b").failed(1, "permission denied", "role");
    desk.execute("drop owned by viewer; drop role viewer");
  }
}

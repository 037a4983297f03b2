package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.server.Desk.Answer;
import java.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class OperateTest {
  private static final Desk DESK = Desk.open();

  @AfterAll
  static void close() {
    DESK.close();
  }

  private static void delivered(String namespace, int count) {
    DESK.postgres.execute(
        "select postrider.enqueue('"
            + namespace
            + "', 'a', '{}') from generate_series(1, "
            + count
            + ")");
    DESK.carry(1, "ok");
  }

  private static JsonNode job(long id) {
    return DESK.get(DESK.viewer, "/v1/replays/" + id).json();
  }

  /** Whoever may enqueue decides how many topics there are. */
  @Test
  void theStatusNamesAHundredTopics() {
    try (Desk desk = Desk.open()) {
      desk.postgres.execute(
          "select postrider.enqueue('flood', 't' || n, '{}') from generate_series(1, 150) n");
      desk.postgres.execute(
          "select postrider.enqueue('zoo', 'full', '{}') from generate_series(1, 3)");
      JsonNode status = desk.get(desk.viewer, "/v1/status").json();
      assertThat(status.get("topics")).hasSize(100);
      assertThat(status.get("topics").get(0).get("topic").stringValue()).isEqualTo("full");
      assertThat(status.get("topics_more").booleanValue()).isTrue();
      assertThat(status.get("pending").intValue()).isEqualTo(153);
    }
  }

  @Test
  @Tag("HE-10")
  void aReplayIsCountedStartedAndWatched() {
    delivered("replay", 20);
    String filter = "\"filter\": {\"namespace\": \"replay\"}";
    Answer dry = DESK.post(DESK.operator, "/v1/replays", "{" + filter + ", \"dry_run\": true}");
    assertThat(dry.status()).isEqualTo(200);
    assertThat(dry.json().get("matched").intValue()).as(dry.text()).isEqualTo(20);
    assertThat(
            DESK.postgres.count(
                "select count(*) from postrider.queue q join postrider.route r on r.id = q.route"
                    + " where r.namespace = 'replay'"))
        .isZero();

    Answer started = DESK.post(DESK.operator, "/v1/replays", "{" + filter + "}");
    assertThat(started.status()).as(started.text()).isEqualTo(202);
    long id = started.json().get("id").longValue();
    await().until(() -> job(id).get("state").stringValue().equals("done"));
    assertThat(job(id).get("requeued").intValue()).isEqualTo(20);
    assertThat(job(id).get("filter").get("namespace").stringValue()).isEqualTo("replay");
    assertThat(job(id).get("created_by").stringValue()).startsWith("operator-");
    assertThat(DESK.get(DESK.viewer, "/v1/replays").json().get("items").get(0).get("id"))
        .isEqualTo(started.json().get("id"));
    DESK.carry(1, "ok");
  }

  @Test
  @Tag("HE-10")
  void aReplayIsStoppedAndResumed() {
    delivered("stopped", 30);
    Answer started =
        DESK.post(
            DESK.operator,
            "/v1/replays",
            "{\"filter\": {\"namespace\": \"stopped\"}, \"rate\": 2}");
    long id = started.json().get("id").longValue();
    await().until(() -> job(id).get("requeued").intValue() > 0);
    assertThat(DESK.post(DESK.operator, "/v1/replays/" + id + "/resume", "").status())
        .as("runs already")
        .isEqualTo(409);
    Answer stopped = DESK.post(DESK.operator, "/v1/replays/" + id + "/stop", "");
    assertThat(stopped.json().get("state").stringValue()).isEqualTo("stopped");
    assertThat(job(id).get("requeued").intValue()).isBetween(1, 29);
    await()
        .until(
            () -> DESK.post(DESK.operator, "/v1/replays/" + id + "/resume", "{}").status() == 202);
    await().until(() -> job(id).get("state").stringValue().equals("done"));
    assertThat(job(id).get("requeued").intValue()).isEqualTo(30);
    DESK.carry(1, "ok");
  }

  @Test
  @Tag("HE-10")
  void aReplaySaysWhatItIsAbout() {
    for (String body :
        new String[] {
          "{}",
          "{\"filter\": {}}",
          "{\"rate\": -1}",
          "{\"rate\": 0}",
          "{\"filter\": {\"topic\": \"x\"}, \"rate\": 0.01}"
        }) {
      assertThat(DESK.post(DESK.operator, "/v1/replays", body).status()).as(body).isEqualTo(422);
    }
    assertThat(DESK.post(DESK.operator, "/v1/replays/4711/stop", "").status()).isEqualTo(404);
  }

  @Test
  @Tag("HE-10")
  void onlySoManyReplaysRunAtATime() {
    delivered("crowd", 100);
    String slow = "{\"filter\": {\"namespace\": \"crowd\"}, \"rate\": 0.5}";
    long[] ids = new long[4];
    for (int i = 0; i < 4; i++) {
      ids[i] = DESK.post(DESK.operator, "/v1/replays", slow).json().get("id").longValue();
    }
    assertThat(DESK.post(DESK.operator, "/v1/replays", slow).status()).isEqualTo(409);
    for (long id : ids) {
      DESK.post(DESK.operator, "/v1/replays/" + id + "/stop", "");
    }
    await()
        .until(
            () ->
                DESK.post(
                            DESK.operator,
                            "/v1/replays",
                            "{\"filter\": {\"namespace\": \"crowd\", \"topic\": \"none\"}}")
                        .status()
                    == 202);
    DESK.carry(1, "ok");
  }

  @Test
  @Tag("OP-3")
  void destinationsAndTopicsArePausedAndResumed() {
    Answer paused =
        DESK.post(DESK.operator, "/v1/destinations/pause", "{\"name\": \"rail\", \"force\": true}");
    assertThat(paused.json().get("changed").booleanValue()).as(paused.text()).isTrue();
    JsonNode rail = DESK.get(DESK.viewer, "/v1/destinations").json().get("items").get(0);
    assertThat(rail.get("name").stringValue()).isEqualTo("rail");
    assertThat(rail.get("paused").booleanValue()).isTrue();
    assertThat(rail.get("paused_by").stringValue()).startsWith("operator-");
    Answer resumed = DESK.post(DESK.operator, "/v1/destinations/resume", "{\"name\": \"rail\"}");
    assertThat(resumed.json().get("changed").booleanValue()).isTrue();
    assertThat(DESK.get(DESK.viewer, "/v1/destinations").json().get("items")).isEmpty();

    String topic = "{\"namespace\": \"shop\", \"topic\": \"a/b\"}";
    DESK.post(DESK.operator, "/v1/topics/pause", topic);
    assertThat(
            DESK.get(DESK.viewer, "/v1/topics/paused")
                .json()
                .get("items")
                .get(0)
                .get("name")
                .stringValue())
        .isEqualTo("shop/a/b");
    JsonNode act = DESK.get(DESK.viewer, "/v1/audit?limit=1").json().get("items").get(0);
    assertThat(act.get("action").stringValue()).isEqualTo("pause");
    assertThat(act.get("detail").get("name").stringValue()).isEqualTo("shop/a/b");
    DESK.post(DESK.operator, "/v1/topics/resume", topic);
    assertThat(DESK.get(DESK.viewer, "/v1/topics/paused").json().get("items")).isEmpty();
  }

  @Test
  void statusRelaysAndLeasesShowWhatIsThere() {
    DESK.enqueue("'status', 'a'");
    JsonNode status = DESK.get(DESK.viewer, "/v1/status").json();
    assertThat(status.path("blocked_keys_at_least").isBoolean()).isTrue();
    assertThat(status.get("pending").intValue()).isPositive();
    assertThat(status.get("topics").toString()).contains("\"namespace\":\"status\"");
    assertThat(status.get("oldest_age_seconds").isNumber()).isTrue();
    DESK.postgres.execute(
        """
        select count(*) from postrider.claim(postrider.worker_id('ann/1'), 10, 100000, 60000,
          array(select id from postrider.route where namespace = 'status'))
        """);
    JsonNode relays = DESK.get(DESK.viewer, "/v1/relays").json().get("items");
    JsonNode ann =
        relays
            .valueStream()
            .filter(r -> r.get("name").stringValue().equals("ann"))
            .findFirst()
            .orElseThrow();
    assertThat(ann.get("in_flight").intValue()).isEqualTo(1);
    assertThat(ann.get("lost").booleanValue()).isFalse();
    JsonNode leases = DESK.get(DESK.viewer, "/v1/leases").json().get("items");
    assertThat(leases).hasSize(1);
    assertThat(leases.get(0).get("worker").stringValue()).isEqualTo("ann/1");
    assertThat(Instant.parse(leases.get(0).get("until").stringValue())).isAfter(Instant.now());
    DESK.postgres.execute("update postrider.lease set until = now() - interval '1 s'");
    DESK.postgres.execute("select postrider.reap()");
    DESK.carry(1, "ok");
  }

  @Test
  @Tag("OP-3")
  void tokensAreMadeAndNobodyGivesWhatHeDoesNotHave() {
    Answer made =
        DESK.post(
            DESK.admin,
            "/v1/tokens",
            "{\"name\": \"ci\", \"role\": \"viewer\", \"tenant\": \"t\", \"lifetime\": \"P1D\"}");
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    String secret = made.json().get("secret").stringValue();
    assertThat(DESK.get(secret, "/v1/messages").status()).isEqualTo(200);
    String list = DESK.get(DESK.admin, "/v1/tokens").text();
    assertThat(list).contains("\"ci\"").doesNotContain(secret).doesNotContain("hash");
    assertThat(DESK.get(DESK.viewer, "/v1/audit").text()).doesNotContain(secret);

    Answer more =
        DESK.post(
            DESK.admin,
            "/v1/tokens",
            "{\"name\": \"spy\", \"role\": \"viewer\", \"permissions\": [\"payload:read\"]}");
    assertThat(more.status()).isEqualTo(403);
    assertThat(more.text()).contains("payload:read");
    for (String body :
        new String[] {
          "{\"name\": \"ci\", \"role\": \"viewer\"}",
          "{\"name\": \"x\"}",
          "{\"name\": \"x\", \"role\": \"root\"}",
          "{\"name\": \"x\", \"permissions\": [\"everything\"]}",
          "{\"name\": \"x\", \"role\": \"viewer\", \"lifetime\": \"-P1D\"}"
        }) {
      assertThat(DESK.post(DESK.admin, "/v1/tokens", body).status()).as(body).isEqualTo(422);
    }
  }

  @Test
  @Tag("OP-3")
  void aTokenMakesNoneThatOutlivesIt() {
    String maker =
        DESK.token(
                NewToken.of(Desk.name("maker"), Role.ADMIN)
                    .expiringIn(java.time.Duration.ofHours(1)))
            .secret();
    String body = "{\"name\": \"%s\", \"role\": \"viewer\" %s}";
    for (String lifetime : new String[] {"", ", \"lifetime\": \"PT2H\""}) {
      Answer refused = DESK.post(maker, "/v1/tokens", body.formatted(Desk.name("heir"), lifetime));
      assertThat(refused.status()).isEqualTo(403);
      assertThat(refused.text()).contains("a lifetime of at most PT59M");
    }
    assertThat(
            DESK.post(
                    maker,
                    "/v1/tokens",
                    body.formatted(Desk.name("heir"), ", \"lifetime\": \"PT59M\""))
                .status())
        .isEqualTo(201);
  }

  @Test
  @Tag("OP-3")
  void theAuditIsPaged() {
    for (int i = 0; i < 3; i++) {
      DESK.token(NewToken.of(Desk.name("page"), Role.VIEWER));
    }
    JsonNode first = DESK.get(DESK.viewer, "/v1/audit?limit=2").json();
    JsonNode second = DESK.get(DESK.viewer, "/v1/audit?limit=2&cursor=" + first.get("next")).json();
    assertThat(second.get("items").get(0).get("id").longValue())
        .isLessThan(first.get("items").get(1).get("id").longValue());
  }

  @Test
  @Tag("OP-8")
  void theRetentionIsShownByTask() {
    DESK.postgres.execute(
        """
        insert into postrider.retention (task, period, started_at, failed_at, error, last_removed, removed)
        values ('messages', '30 days', now(), now(), 'the disk is full', 3, 7)
        """);
    JsonNode task = DESK.get(DESK.viewer, "/v1/retention").json().get("items").get(0);
    assertThat(task.get("task").stringValue()).isEqualTo("messages");
    assertThat(task.get("period_seconds").longValue()).isEqualTo(30 * 86_400);
    assertThat(task.has("finished_at")).isFalse();
    assertThat(task.get("error").stringValue()).isEqualTo("the disk is full");
    assertThat(task.get("removed").longValue()).isEqualTo(7);
  }
}

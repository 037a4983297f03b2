package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Scope;
import dev.postrider.server.Desk.Answer;
import java.net.http.HttpRequest.BodyPublishers;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class EnqueueTest {
  private static final Desk DESK = Desk.open();
  private static final String PRODUCER =
      DESK.token(NewToken.of("producer", Permission.ENQUEUE)).secret();
  private static final String READER =
      DESK.token(NewToken.of("reader", Permission.READ, Permission.PAYLOAD_READ)).secret();

  @AfterAll
  static void close() {
    DESK.close();
  }

  @Test
  @Tag("EN-5")
  @Tag("EN-3")
  void aMessageArrivesWithAllItsFields() {
    Answer answer =
        DESK.post(
            PRODUCER,
            "/v1/messages",
            """
            {"namespace": "shop", "topic": "orders", "payload": {"total": 12345678901234567890.10},
             "key": "k", "dedupe_key": "d", "tenant": "t", "aggregate_type": "order",
             "aggregate_id": "1", "event_type": "paid", "headers": {"trace": "x"}}
            """);
    assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    assertThat(answer.json().get("sequence").intValue()).isEqualTo(1);
    String id = answer.json().get("id").stringValue();
    Answer shown = DESK.get(READER, "/v1/messages/" + id);
    assertThat(shown.text()).contains("12345678901234567890.10");
  }

  @Test
  @Tag("MC-2")
  void anIdempotencyKeyGivesTheFirstIdAgain() {
    String body = "{\"namespace\": \"shop\", \"topic\": \"once\", \"payload\": 1}";
    Answer[] answers = new Answer[2];
    for (int i = 0; i < 2; i++) {
      answers[i] =
          DESK.send(
              DESK.request(PRODUCER, "/v1/messages")
                  .header("Content-Type", "application/json; charset=utf-8")
                  .header("Idempotency-Key", "once-1")
                  .POST(BodyPublishers.ofString(body)));
    }
    assertThat(answers[0].status()).isEqualTo(201);
    assertThat(answers[0].json().get("duplicate").booleanValue()).isFalse();
    assertThat(answers[1].status()).isEqualTo(200);
    assertThat(answers[1].json().get("duplicate").booleanValue()).isTrue();
    assertThat(answers[1].json().get("id")).isEqualTo(answers[0].json().get("id"));
  }

  /** A transaction that is left open in the database holds its keys, but no threads of the API. */
  @Test
  @Tag("OP-3")
  @Timeout(60)
  void aKeyThatATransactionHoldsIsNotWaitedForForLong() throws Exception {
    try (Connection open = DESK.postgres.dataSource().getConnection();
        Statement statement = open.createStatement()) {
      open.setAutoCommit(false);
      statement.execute("select postrider.enqueue('held', 't', '1', key => 'k')");
      String message =
          "{\"namespace\": \"held\", \"topic\": \"t\", \"key\": \"k\", \"payload\": 1}";
      Answer one = DESK.post(PRODUCER, "/v1/messages", message);
      assertThat(one.status()).as(one.text()).isEqualTo(503);
      assertThat(one.header("Retry-After")).isNotEmpty();
      Answer many = DESK.post(PRODUCER, "/v1/messages/batch", "{\"messages\": [" + message + "]}");
      assertThat(many.status()).as(many.text()).isEqualTo(503);
      open.rollback();
      assertThat(DESK.post(PRODUCER, "/v1/messages", message).status()).isEqualTo(201);
    }
  }

  @Test
  @Tag("EN-5")
  void manyAreAllOrNone() {
    String good = "{\"namespace\": \"many\", \"topic\": \"t\", \"key\": \"k\", \"payload\": 1}";
    Answer answer =
        DESK.post(PRODUCER, "/v1/messages/batch", "{\"messages\": [" + good + ", " + good + "]}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    assertThat(answer.json().get("messages").get(1).get("sequence").intValue()).isEqualTo(2);

    String tooLong = good.replace("\"k\"", "\"" + "k".repeat(4000) + "\"");
    Answer refused =
        DESK.post(
            PRODUCER, "/v1/messages/batch", "{\"messages\": [" + good + ", " + tooLong + "]}");
    assertThat(refused.status()).as(refused.text()).isEqualTo(422);
    assertThat(
            DESK.postgres.count(
                "select count(*) from postrider.message_state where namespace = 'many'"))
        .isEqualTo(2);
  }

  @Test
  @Tag("EN-3")
  void whatIsNotJsonTravelsAsBase64() {
    Answer answer =
        DESK.post(
            PRODUCER,
            "/v1/messages",
            """
            {"namespace": "shop", "topic": "raw", "payload_base64": "AP8=", "content_type": "image/x"}
            """);
    String id = answer.json().get("id").stringValue();
    Answer shown = DESK.get(READER, "/v1/messages/" + id);
    assertThat(shown.json().get("payload_base64").stringValue()).isEqualTo("AP8=");
    assertThat(shown.json().get("content_type").stringValue()).isEqualTo("image/x");
    for (String payload :
        new String[] {
          "",
          ", \"payload\": 1, \"payload_base64\": \"AA==\"",
          ", \"payload_base64\": \"%\"",
          ", \"payload\": 1, \"content_type\": \"text/plain\"",
          ", \"payload\": 1, \"aggregate_id\": \"1\""
        }) {
      Answer refused =
          DESK.post(
              PRODUCER,
              "/v1/messages",
              "{\"namespace\": \"shop\", \"topic\": \"raw\"" + payload + "}");
      assertThat(refused.status()).as(payload).isEqualTo(422);
    }
  }

  @Test
  @Tag("CH-5")
  void aTenantEnqueuesOnlyForItself() {
    String token =
        DESK.token(NewToken.of("tenant-t", Permission.ENQUEUE).within(Scope.tenant("t"))).secret();
    String message = "{\"namespace\": \"shop\", \"topic\": \"scoped\", \"payload\": null";
    assertThat(DESK.post(token, "/v1/messages", message + "}").status()).isEqualTo(201);
    assertThat(
            DESK.postgres.column(
                "select tenant from postrider.message_state where topic = 'scoped'"))
        .containsExactly("t");
    assertThat(DESK.post(token, "/v1/messages", message + ", \"tenant\": \"u\"}").status())
        .isEqualTo(403);
  }

  /** The keys of a namespace are shared by those who may act for all its tenants. */
  @Test
  @Tag("CH-5")
  void aTenantsKeysAreItsOwn() {
    String other = scoped("keys-b", "b");
    String slash = scoped("keys-a-b", "a/b");
    String message =
        "{\"namespace\": \"shop\", \"topic\": \"own-keys\", \"payload\": 1,"
            + " \"key\": \"%s\", \"dedupe_key\": \"d\"}";
    DESK.enqueue("'shop', 'own-keys', key => 'k', dedupe_key => 'd', tenant => 'a'");
    for (String token : List.of(other, slash, scoped("keys-a", "a"))) {
      Answer answer = DESK.post(token, "/v1/messages", message.formatted("k"));
      assertThat(answer.status()).as("no duplicate: " + answer.text()).isEqualTo(201);
      assertThat(answer.json().get("sequence").asLong()).as("a key of its own").isOne();
    }
    Answer again = DESK.post(other, "/v1/messages", message.formatted("k"));
    assertThat(again.status()).isEqualTo(200);
    assertThat(
            DESK.postgres.column(
                "select ordering_key from postrider.message_state where topic = 'own-keys'"
                    + " order by 1"))
        .containsExactly("a%2Fb/k", "a/k", "b/k", "k");
    Answer tooLong = DESK.post(other, "/v1/messages", message.formatted("k".repeat(399)));
    assertThat(tooLong.status()).isEqualTo(422);
    assertThat(tooLong.text()).contains("with the token's tenant in front, has 401");
  }

  private static String scoped(String name, String tenant) {
    return DESK.token(NewToken.of(name, Permission.ENQUEUE).within(Scope.tenant(tenant))).secret();
  }

  @Test
  @Tag("CH-5")
  void aTokenMayBeLimitedToTopics() {
    Scope scope = new Scope(null, "shop", List.of("one", "two"));
    String token =
        DESK.token(NewToken.of("topics", Permission.READ, Permission.ENQUEUE).within(scope))
            .secret();
    String message = "{\"namespace\": \"shop\", \"topic\": \"%s\", \"payload\": 1}";
    assertThat(DESK.post(token, "/v1/messages", message.formatted("one")).status()).isEqualTo(201);
    Answer flood = DESK.post(token, "/v1/messages", message.formatted("made-up"));
    assertThat(flood.status()).isEqualTo(403);
    assertThat(DESK.postgres.count("select count(*) from postrider.route where topic = 'made-up'"))
        .isZero();
    assertThat(DESK.get(token, "/v1/messages?topic=one").json().get("items")).isNotEmpty();
    assertThat(DESK.get(token, "/v1/messages?topic=orders").status()).isEqualTo(403);
    Answer unsaid = DESK.get(token, "/v1/messages");
    assertThat(unsaid.status()).isEqualTo(403);
    assertThat(unsaid.text()).contains("limited to the topics one, two; give one of them");
  }

  @Test
  void anIdThatExistsIsAConflict() {
    String id = DESK.enqueue("'shop', 'orders'").toString();
    Answer answer =
        DESK.post(
            PRODUCER,
            "/v1/messages",
            "{\"namespace\": \"shop\", \"topic\": \"x\", \"payload\": 1, \"id\": \"" + id + "\"}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(409);
  }
}

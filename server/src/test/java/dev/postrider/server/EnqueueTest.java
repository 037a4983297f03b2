package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.server.Desk.Answer;
import java.net.http.HttpRequest.BodyPublishers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

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
}

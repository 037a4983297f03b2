package dev.postrider.examples.chat;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** A message and its event: both or neither, and nothing goes out with the request. */
@Timeout(60)
@Tag("CH-1")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostTest {
  private static final String PATH = "/my/projects/acme/chat/lobby/message";
  private static final String BODY = "{\"author\": \"ann\", \"text\": \"%s\"}";

  private Office office;

  @BeforeAll
  void open() throws Exception {
    office = new Office();
  }

  @AfterAll
  void close() {
    office.close();
  }

  private List<String> messages() {
    return office.database.column("select id from chat.message order by 1");
  }

  private List<String> events() {
    return office.database.column("select id from postrider.message order by 1");
  }

  @Test
  void bothAreThereAndNothingIsPublishedByTheRequest() throws Exception {
    String id = office.say(Office.LOBBY, "hello");
    assertThat(messages()).contains(id).isEqualTo(events());
    assertThat(
            office.database.column(
                "select state from postrider.message_state where id = '" + id + "'"))
        .containsExactly("pending");
    assertThat(office.database.count("select count(*) from postrider.stream_event")).isZero();
  }

  @Test
  void aCommitThatFailsLeavesNeither() throws Exception {
    List<String> before = messages();
    office.database.execute(
        """
        create function chat.refuse() returns trigger language plpgsql as
          'begin raise exception ''too late''; end';
        create constraint trigger refuse after insert on chat.message
          deferrable initially deferred for each row execute function chat.refuse();
        """);
    try {
      assertThat(office.onA(office.acme).post(PATH, BODY.formatted("lost")).statusCode())
          .isEqualTo(500);
    } finally {
      office.database.execute("drop function chat.refuse cascade");
    }
    assertThat(messages()).isEqualTo(before).isEqualTo(events());
  }

  @Test
  void aSessionThatDoesNotExistLeavesNeither() throws Exception {
    List<String> before = messages();
    HttpResponse<String> answer =
        office.onA(office.acme).post(PATH.replace("lobby", "attic"), BODY.formatted("hello?"));
    assertThat(answer.statusCode()).isEqualTo(404);
    assertThat(answer.body()).contains("there is no session attic in project acme");
    assertThat(messages()).isEqualTo(before).isEqualTo(events());
  }

  @Test
  void whatIsSentTwiceIsSaidOnce() throws Exception {
    assertThat(postWithKey("once").get("duplicate").asBoolean()).isFalse();
    List<String> after = messages();
    assertThat(postWithKey("once").get("duplicate").asBoolean()).isTrue();
    assertThat(messages()).isEqualTo(after).isEqualTo(events());
  }

  private JsonNode postWithKey(String key) throws Exception {
    return Office.json(
        ChatClient.HTTP.send(
            office
                .onB(office.acme)
                .request(PATH)
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", key)
                .POST(BodyPublishers.ofString(BODY.formatted("again")))
                .build(),
            BodyHandlers.ofString()));
  }

  @Test
  void whatIsWrongIsSaid() throws Exception {
    List<String> before = messages();
    HttpResponse<String> answer = office.onA(office.acme).post(PATH, "{\"text\": \"\"}");
    assertThat(answer.statusCode()).isEqualTo(422);
    assertThat(answer.body()).contains("\"field\":\"author\"", "\"field\":\"text\"");
    assertThat(office.onA(office.acme).post(PATH, BODY.formatted("\\u0000")).statusCode())
        .isEqualTo(422);
    assertThat(messages()).isEqualTo(before);
  }
}

package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.server.Desk.Answer;
import dev.postrider.server.api.JsonText;
import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("EN-4")
class BadInputTest {
  private static final Desk DESK =
      Desk.open(
          builder ->
              builder.config(
                  Desk.CONFIG.withLimits(Desk.CONFIG.limits().withRequestBytes(64 * 1024))));

  @AfterAll
  static void close() {
    DESK.close();
  }

  private static Answer problem(Answer answer, int status) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
    for (String name : List.of("type", "title", "detail")) {
      assertThat(answer.json().get(name).stringValue()).isNotBlank();
    }
    assertThat(answer.json().get("status").intValue()).isEqualTo(status);
    return answer;
  }

  @ParameterizedTest
  @ValueSource(strings = {"{", "{\"a\": }", "{} {}", "{\"a\":1,\"a\":2}", "\u0000", "{'a': 1}"})
  void whatIsNotJsonIsSaidToBeSo(String body) {
    Answer answer = problem(DESK.post(DESK.admin, "/v1/messages", body), 400);
    assertThat(answer.json().get("detail").stringValue()).contains("line 1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "1", "\"x\"", "null"})
  void aBodyIsAnObject(String body) {
    problem(DESK.post(DESK.admin, "/v1/messages", body), 422);
  }

  @Test
  void everythingThatIsWrongIsSaidAtOnce() {
    Answer answer =
        problem(
            DESK.post(
                DESK.admin,
                "/v1/messages",
                """
                {"topic": 5, "payload": 1, "key": "", "headers": {"a": 1}, "not_before": "soon",
                 "id": "1-1-1-1-1", "colour": "red"}
                """),
            422);
    List<String> fields = new ArrayList<>();
    answer.json().get("errors").forEach(error -> fields.add(error.get("field").stringValue()));
    assertThat(fields)
        .containsExactlyInAnyOrder(
            "colour", "namespace", "topic", "key", "headers.a", "not_before", "id");
    assertThat(answer.text()).contains("must be text of 1 to 200 characters, got 5");
  }

  @Test
  void whatTheDatabaseRefusesNamesTheFieldToo() {
    Answer answer =
        problem(
            DESK.post(
                DESK.admin,
                "/v1/messages",
                """
                {"namespace": "n", "topic": "t", "payload": 1, "not_before": "2999-01-01T00:00:00Z"}
                """),
            422);
    assertThat(answer.json().get("errors").get(0).get("field").stringValue())
        .isEqualTo("not_before");
  }

  @Test
  void textThatCannotBeStoredIsRefused() {
    String body = "{\"namespace\": \"n\", \"topic\": \"t\\u0000\", \"payload\": 1}";
    assertThat(problem(DESK.post(DESK.admin, "/v1/messages", body), 422).text())
        .contains("topic must not contain the character U+0000");
    assertThat(problem(DESK.get(DESK.viewer, "/v1/messages?topic=t%00"), 422).text())
        .contains("topic must not contain the character U+0000");
  }

  /** Otherwise a request of 8 MiB would be answered with hundreds. */
  @Test
  void theAnswerIsNotMuchLongerThanTheRequest() {
    StringBuilder body = new StringBuilder("{");
    for (int i = 0; i < 5000; i++) {
      body.append("\"").append(i).append("\":1,");
    }
    body.append("\"").append("x".repeat(20_000)).append("\":1}");
    Answer answer = problem(DESK.post(DESK.admin, "/v1/messages", body.toString()), 422);
    assertThat(answer.json().get("errors")).hasSize(100);
    assertThat(answer.text()).hasSizeLessThan(body.length());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x"})
  void aValueIsNotCutInTheMiddleOfACharacter(String before) {
    String smiles = before + "%F0%9F%98%80".repeat(200);
    problem(DESK.get(DESK.viewer, "/v1/messages?limit=" + smiles), 422);
    problem(DESK.get(DESK.viewer, "/v1/messages?" + smiles + "=1"), 422);
  }

  @Test
  void errorsInAListSayWhere() {
    Answer answer =
        problem(
            DESK.post(
                DESK.admin,
                "/v1/messages/batch",
                """
                {"messages": [{"namespace": "n", "topic": "t", "payload": 1}, {"topic": "t"}]}
                """),
            422);
    assertThat(answer.text()).contains("messages[1].namespace");
    problem(DESK.post(DESK.admin, "/v1/messages/batch", "{\"messages\": []}"), 422);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /v1/messages?limit=0                       | limit
          /v1/messages?limit=1001                    | limit
          /v1/messages?limit=many                    | limit
          /v1/messages?limit=1&limit=2               | limit
          /v1/messages?cursor=abc                    | cursor
          /v1/messages?colour=red                    | colour
          /v1/messages?from=yesterday                | from
          /v1/messages?topic=                        | topic
          /v1/messages/abc                           | id
          /v1/dead?cursor=abc                        | cursor
          /v1/dead?cursor=2026-01-01T00:00:00Z_x     | cursor
          /v1/dead?order=sideways                    | order
          /v1/dead?blocking=maybe                    | blocking
          /v1/keys/blocked?cursor=1_2_3              | cursor
          /v1/audit?cursor=-1                        | cursor
          /v1/replays/first                          | id
          /v1/events/counts                          | from
          /v1/messages?from=%2B10000-01-01T00:00:00Z  | from
          /v1/messages?from=0000-12-31T00:00:00Z     | from
          /v1/dead?cursor=%2B1000000000-01-01T00:00:00Z_019f0000-0000-7000-8000-000000000000 | cursor
          """)
  void aBadParameterIsNamed(String path, String field) {
    Answer answer = problem(DESK.get(DESK.admin, path), 422);
    assertThat(answer.json().get("errors").get(0).get("field").stringValue()).isEqualTo(field);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/messages?key=k",
        "/v1/messages?aggregate_id=1",
        "/v1/events/counts?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&interval=PT1S",
        "/v1/events/counts?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z&interval=PT1H",
        "/v1/events/counts?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&interval=PT0.5S"
      })
  void whatTheCoreRefusesIsRefused(String path) {
    problem(DESK.get(DESK.admin, path), 422);
  }

  @Test
  void durationsAndRatesHaveAnEnd() {
    String counts = "/v1/events/counts?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z";
    assertThat(
            problem(DESK.get(DESK.admin, counts + "&interval=PT9223372036854775807S"), 422).text())
        .contains("at most 36500 days");
    for (String rate : List.of("1e400", "1e-400", "-1e400", "0", "1e9")) {
      String body = "{\"filter\": {\"topic\": \"t\"}, \"rate\": " + rate + "}";
      assertThat(problem(DESK.post(DESK.admin, "/v1/replays", body), 422).text()).contains("rate");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"application/json; charset=nope", "text/plain; charset", "x; charset=\"\""})
  void aCharsetThatThereIsNotDoesNoHarm(String type) {
    assertThat(DESK.send(DESK.request(null, "/v1/health?").header("Content-Type", type)).status())
        .isEqualTo(200);
    assertThat(
            DESK.send(
                    DESK.request(DESK.viewer, "/v1/messages?topic=%C3%A9")
                        .header("Content-Type", type))
                .status())
        .isEqualTo(200);
  }

  /** Deeper than PostgreSQL's stack: Java only passes it on. */
  @Test
  void whatIsTooDeepForTheDatabaseIsRefused() {
    String deep =
        java.util.Base64.getEncoder()
            .encodeToString(
                ("[".repeat(20_000) + "]".repeat(20_000)).getBytes(StandardCharsets.US_ASCII));
    try (Desk desk = Desk.open()) {
      desk.postgres.execute(
          """
          do $$ begin
            execute format('alter database %I set max_stack_depth = 500', current_database());
          end $$
          """);
      problem(
          desk.post(
              desk.admin,
              "/v1/messages",
              "{\"namespace\": \"n\", \"topic\": \"t\", \"payload_base64\": \""
                  + deep
                  + "\", \"content_type\": \"application/json\"}"),
          422);
      assertThat(desk.postgres.count("select count(*) from postrider.message")).isZero();
    }
  }

  @Test
  void unknownPathsAndMethodsAreProblems() {
    problem(DESK.get(DESK.admin, "/v1/nothing"), 404);
    problem(DESK.get(null, "/nothing"), 404);
    Answer answer = problem(DESK.call(DESK.admin, "PUT", "/v1/messages", ""), 405);
    assertThat(answer.header("Allow")).contains("GET", "POST");
    problem(DESK.call(DESK.admin, "TRACE", "/v1/messages", ""), 405);
  }

  @Test
  void anotherContentTypeIsRefused() {
    for (String type : List.of("text/plain", "application/x-www-form-urlencoded")) {
      problem(
          DESK.send(
              DESK.request(DESK.admin, "/v1/messages")
                  .header("Content-Type", type)
                  .POST(BodyPublishers.ofString("{}"))),
          415);
    }
  }

  @Test
  void tooLargeIsRefusedWithAndWithoutALength() {
    byte[] body = new byte[70 * 1024];
    problem(
        DESK.send(
            DESK.request(DESK.admin, "/v1/messages")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(body))),
        413);
    problem(
        DESK.send(
            DESK.request(DESK.admin, "/v1/messages")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body)))),
        413);
  }

  @Test
  void aMissingTokenIsSaidBeforeABadBody() {
    problem(DESK.post(null, "/v1/messages", "{"), 401);
  }

  @Test
  void whatIsNotHttpIsAProblemToo() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), DESK.server.port())) {
      socket.setSoTimeout(10_000);
      OutputStream out = socket.getOutputStream();
      out.write("GET /v1/%2e%zz HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      byte[] buffer = new byte[4096];
      int n = socket.getInputStream().read(buffer);
      String answer = new String(buffer, 0, n, StandardCharsets.UTF_8);
      assertThat(answer).startsWith("HTTP/1.1 400").contains("application/problem+json");
      assertThat(answer).doesNotContain("Jetty").doesNotContain("<html");
    }
  }

  @Test
  void aQueryThatIsNotEncodedIsSaidToBeSo() throws Exception {
    try (RawSocket socket =
        RawSocket.saying(
            DESK,
            "GET /v1/messages?topic=%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                + "Authorization: Bearer "
                + DESK.viewer
                + "\r\n\r\n")) {
      assertThat(socket.rest()).startsWith("HTTP/1.1 422").contains("percent-encoded");
    }
  }

  @Test
  void aPayloadThatIsDeepOrHugeInNumbersDoesNoHarm() {
    String deep = "[".repeat(2000) + "]".repeat(2000);
    Answer answer =
        DESK.post(
            DESK.admin,
            "/v1/messages",
            "{\"namespace\": \"n\", \"topic\": \"t\", \"payload\": " + deep + "}");
    problem(answer, 413);
    assertThat(answer.text()).contains("nesting depth").doesNotContain("StreamReadConstraints");
    String number = "1e999999999";
    Answer large =
        DESK.post(
            DESK.admin,
            "/v1/messages",
            "{\"namespace\": \"n\", \"topic\": \"t\", \"payload\": " + number + "}");
    assertThat(large.status()).isIn(201, 400, 422);
    assertThat(JsonText.read(large.text().getBytes(StandardCharsets.UTF_8)).isObject()).isTrue();
  }
}

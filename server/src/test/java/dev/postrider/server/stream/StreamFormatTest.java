package dev.postrider.server.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.server.Desk;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

@Timeout(60)
@Tag("CH-2")
@Tag("OP-6")
class StreamFormatTest {
  private static final Station STATION =
      new Station(Station.CONFIG.withHeartbeat(Duration.ofMillis(300)));

  @AfterAll
  static void close() {
    STATION.close();
  }

  @Test
  @Tag("CH-3")
  void ndjsonHasOneObjectPerLine() throws Exception {
    try (Listener listener = Listener.open(STATION.desk, STATION.token, "?" + room("7"))) {
      assertThat(listener.response.headers().firstValue("content-type"))
          .hasValue("application/x-ndjson");
      assertThat(listener.records.get(0).get("heartbeat")).isNotNull();
      STATION.say("7", 1, 2, "E'two\\nlines'");
      JsonNode event = listener.awaitEvents(2).events().get(0);
      assertThat(STATION.sentIds()).contains(event.get("event_id").asString());
      assertThat(event.get("position").asLong()).isPositive();
      assertThat(event.get("type").asString()).isEqualTo("said");
      assertThat(event.get("namespace").asString()).isEqualTo("chat");
      assertThat(event.get("topic").asString()).isEqualTo("messages");
      assertThat(event.get("aggregate_type").asString()).isEqualTo("room");
      assertThat(event.get("aggregate_id").asString()).isEqualTo("7");
      assertThat(event.get("tenant").asString()).isEqualTo("tenant-7");
      assertThat(event.get("occurred_at").asString()).endsWith("Z");
      assertThat(event.get("headers").get("trace").asString()).isEqualTo("t");
      assertThat(event.get("payload").get("text").asString()).isEqualTo("two\nlines");
      for (JsonNode line : listener.records) {
        assertThat(STATION.desk.described().errors("StreamRecord", line)).as("%s", line).isEmpty();
      }
    }
  }

  @Test
  void sseCarriesTheSameWithThePositionAsId() throws Exception {
    try (Listener listener =
        Listener.open(
            STATION.desk, STATION.token, "?" + room("sse"), "Accept", "text/event-stream")) {
      assertThat(listener.response.headers().firstValue("content-type"))
          .hasValue("text/event-stream");
      STATION.say("sse", 1, 1);
      await().until(() -> listener.lines.stream().anyMatch(line -> line.contains("event_id")));
      int data = indexOf(listener, "data: {\"event_id\"");
      String id = listener.lines.get(data - 1).substring("id: ".length());
      assertThat(listener.lines.get(data)).contains("\"position\":" + id + ",");
      await().until(() -> listener.lines.size() > data + 1);
      assertThat(listener.lines.get(data + 1)).isEmpty();
      assertThat(listener.lines).startsWith("event: heartbeat");
      STATION.say("sse", 2, 1);
      try (Listener again =
          Listener.open(
              STATION.desk,
              STATION.token,
              "?after=0&" + room("sse"),
              "Accept",
              "text/event-stream",
              "Last-Event-ID",
              id)) {
        await().until(() -> again.lines.stream().anyMatch(line -> line.contains("event_id")));
        assertThat(again.lines.get(indexOf(again, "data: {\"event_id\""))).contains("\"n\" : 2");
      }
    }
  }

  private static int indexOf(Listener listener, String start) {
    return (int) listener.lines.stream().takeWhile(line -> !line.startsWith(start)).count();
  }

  @Test
  void heartbeatsTellThePositionThoughNothingMatches() throws Exception {
    try (Listener listener = Listener.open(STATION.desk, STATION.token, "?" + room("none"))) {
      long start = listener.position();
      STATION.say("other", 1, 5);
      await().until(() -> listener.position() >= start + 5);
      assertThat(listener.events()).isEmpty();
    }
  }

  @Test
  void withoutPayloadReadThereIsNoContent() throws Exception {
    String token = STATION.desk.token(NewToken.of(Desk.name("bare"), Permission.STREAM)).secret();
    try (Listener listener = Listener.open(STATION.desk, token, "?" + room("bare"))) {
      STATION.say("bare", 1, 1);
      JsonNode event = listener.awaitEvents(1).events().get(0);
      assertThat(event.has("event_id")).isTrue();
      assertThat(event.has("payload") || event.has("headers")).isFalse();
    }
  }

  @Test
  void onlyTokensForStreamsAreLetIn() {
    assertThat(STATION.desk.get(null, "/v1/streams/events").status()).isEqualTo(401);
    String reader = STATION.desk.token(NewToken.of(Desk.name("r"), Permission.READ)).secret();
    assertThat(STATION.desk.get(reader, "/v1/streams/events").status()).isEqualTo(403);
  }

  @Test
  void badInputIsAProblem() {
    assertThat(problem("?after=yesterday", 422)).contains("must be a position, such as 4711");
    assertThat(problem("?topic=t", 422)).contains("topic is given without namespace");
    assertThat(problem("?colour=red", 422)).contains("colour");
    assertThat(problem("?after=999999999", 410)).contains("beyond the log's last one");
  }

  @Test
  @Tag("CH-4")
  void tooManyClientsAreTurnedAway() throws Exception {
    Desk small =
        Desk.on(
            STATION.desk.postgres,
            server ->
                server.streams(
                    Station.CONFIG.withHeartbeat(Duration.ofMillis(300)).withClients(2, 9, 9)));
    try (Listener first = Listener.open(small, STATION.token, "");
        Listener second = Listener.open(small, STATION.token, "")) {
      Desk.Answer answer = small.get(STATION.token, "/v1/streams/events");
      assertThat(answer.status()).isEqualTo(503);
      assertThat(answer.header("Retry-After")).isEqualTo("5");
      second.close();
      // A place is free as soon as a heartbeat has found nobody.
      await().until(() -> statusOf(small) == 200);
      assertThat(first.records).noneMatch(line -> line.has("end"));
    } finally {
      small.server.close();
    }
  }

  private static int statusOf(Desk desk) throws Exception {
    try (Listener listener = Listener.silent(desk, STATION.token, "")) {
      return listener.response.statusCode();
    }
  }

  private static String problem(String query, int status) {
    Desk.Answer answer = STATION.desk.get(STATION.token, "/v1/streams/events" + query);
    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
    return answer.text();
  }

  private static String room(String id) {
    return "namespace=chat&topic=messages&aggregate_type=room&aggregate_id=" + id;
  }
}

package dev.postrider.server.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Scope;
import dev.postrider.server.Desk;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** A token limited to one tenant that tries to appear in the stream as another one. */
@Timeout(60)
class ForgeryTest {
  private static final Station STATION = new Station(Station.CONFIG);

  private static final String PAYLOAD =
      "null,\"tenant\":\"victim\",\"event_id\":\"00000000-0000-7000-8000-000000000000\","
          + "\"type\":\"forged\"";

  private static final List<String> TYPES =
      List.of(
          "application/x_y+json",
          "application/json\\t;a",
          "application/json\\n",
          "application/json",
          "Application/JSON; charset=utf-8",
          "text/json",
          "application/json,x",
          "application/json\\u00a0",
          "text/plain",
          "application/octet-stream");

  @AfterAll
  static void close() {
    STATION.close();
  }

  @Test
  @Tag("CH-5")
  void aProducerCannotSpeakForAnotherTenant() throws Exception {
    String producer =
        STATION
            .desk
            .token(
                NewToken.of(Desk.name("producer"), Permission.ENQUEUE)
                    .within(new Scope("own", "chat")))
            .secret();
    List<String> ids = new ArrayList<>();
    try (Listener listener = Listener.open(STATION.desk, STATION.token, "")) {
      for (String type : TYPES) {
        Desk.Answer answer = STATION.desk.post(producer, "/v1/messages", message(type));
        if (answer.status() == 422) {
          assertThat(answer.text()).contains("not valid JSON");
        } else {
          assertThat(answer.status()).as(type).isEqualTo(201);
          ids.add(answer.json().get("id").asString());
        }
      }
      assertThat(ids).hasSize(4);
      listener.awaitEvents(ids.size());
      assertThat(listener.values("event_id")).containsExactlyInAnyOrderElementsOf(ids);
      assertThat(listener.values("tenant")).containsOnly("own");
      assertThat(listener.values("type")).containsOnly("sent");
      assertThat(listener.lines).noneMatch(line -> line.contains("\"tenant\":\"victim\""));
    }
    String reader =
        STATION
            .desk
            .token(NewToken.of(Desk.name("reader"), Permission.READ, Permission.PAYLOAD_READ))
            .secret();
    for (String id : ids) {
      JsonNode shown = STATION.desk.get(reader, "/v1/messages/" + id).json().get("payload_base64");
      assertThat(Base64.getDecoder().decode(shown.asString()))
          .asString(StandardCharsets.UTF_8)
          .isEqualTo(PAYLOAD);
    }
  }

  private static String message(String type) {
    return """
        {"namespace": "chat", "topic": "messages", "event_type": "sent", "content_type": "%s",
         "payload_base64": "%s"}"""
        .formatted(
            type, Base64.getEncoder().encodeToString(PAYLOAD.getBytes(StandardCharsets.UTF_8)));
  }
}

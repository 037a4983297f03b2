package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.server.Desk.Answer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** JSON that is short as text and large as a tree of objects, or slow to read. */
@Tag("EN-4")
class JsonBoundsTest {
  @AutoClose private final Desk desk = Desk.open();

  private Answer payload(String json) {
    String body = "{\"namespace\": \"n\", \"topic\": \"t\", \"payload\": " + json + "}";
    return desk.post(desk.admin, "/v1/messages", body);
  }

  private void refused(String json, String why) {
    Answer answer = payload(json);
    assertThat(answer.status()).as(answer.text()).isEqualTo(413);
    assertThat(answer.json().get("type").stringValue()).endsWith(":too-large");
    assertThat(answer.json().get("detail").stringValue()).contains(why).doesNotContain("`");
  }

  @Test
  void valuesAreCounted() {
    refused("[" + "[],".repeat(600_000) + "[]]", "Token count");
    assertThat(payload("[" + "[],".repeat(100_000) + "[]]").status()).isEqualTo(201);
  }

  @Test
  void depthHasAnEnd() {
    refused("[".repeat(501) + "]".repeat(501), "nesting depth");
    assertThat(payload("[".repeat(400) + "]".repeat(400)).status()).isEqualTo(201);
  }

  @Test
  void numbersHaveAnEnd() {
    refused("1".repeat(1001), "Number value length");
    assertThat(payload("1".repeat(1000)).status()).isEqualTo(201);
  }

  @Test
  void namesHaveAnEnd() {
    refused("{\"" + "n".repeat(200_000) + "\": 1}", "Name length");
    assertThat(payload("{\"" + "n".repeat(40_000) + "\": 1}").status()).isEqualTo(201);
  }
}

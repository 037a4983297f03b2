package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.internal.text.Fingerprint;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a receiver said may be the payload itself. */
@Tag("OP-3")
class ErrorTextTest {
  private final Desk desk = Desk.open();
  private final UUID id = desk.enqueue("'shop', 'orders', key => 'k'");

  @BeforeEach
  void fail() {
    desk.carry(4, "http_500");
    for (String table : List.of("attempt", "dead_letter")) {
      desk.postgres.execute(
          "update postrider." + table + " set error = E'HTTP 500:\\nyou sent 4111-1111'");
    }
  }

  @AfterEach
  void close() {
    desk.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/messages",
        "/v1/messages/{id}",
        "/v1/events",
        "/v1/dead",
        "/v1/dead/groups",
        "/v1/dead/{id}",
        "/v1/keys/blocked"
      })
  void aReplyIsShownOnlyToThoseWhoMaySeePayloads(String path) {
    String call = path.replace("{id}", id.toString());
    for (String token : List.of(desk.viewer, desk.operator, desk.admin)) {
      assertThat(desk.get(token, call).text())
          .contains("\"HTTP 500\"", "http_500")
          .doesNotContain("4111-1111");
    }
    String reader =
        desk.token(NewToken.of(Desk.name("reader"), Permission.READ, Permission.PAYLOAD_READ))
            .secret();
    assertThat(desk.get(reader, call).text()).contains("HTTP 500:\\nyou sent 4111-1111");
  }

  /** A fingerprint of the whole text would tell who guesses the reply that the guess is right. */
  @Test
  void aReplyIsNotFoundOutByFingerprints() throws Exception {
    String whole = Fingerprint.of("HTTP 500:\nyou sent 4111-1111");
    String summary = Fingerprint.ofSummary("HTTP 500:\nyou sent 4111-1111");
    assertThat(desk.get(desk.operator, "/v1/dead/groups").text()).contains(summary);
    assertThat(desk.get(desk.operator, "/v1/dead?fingerprint=" + summary).text())
        .contains(id.toString());
    for (String path : List.of("/v1/dead", "/v1/dead/groups")) {
      assertThat(desk.get(desk.operator, path + "?fingerprint=" + whole).status()).isEqualTo(403);
    }
    assertThat(
            desk.post(
                    desk.operator,
                    "/v1/dead/requeue",
                    "{\"filter\": {\"topic\": \"orders\", \"fingerprint\": \"" + whole + "\"}}")
                .status())
        .isEqualTo(403);
    String reader =
        desk.token(NewToken.of(Desk.name("reader"), Permission.READ, Permission.PAYLOAD_READ))
            .secret();
    assertThat(desk.get(reader, "/v1/dead?fingerprint=" + whole).text()).contains(id.toString());
    assertThat(desk.get(reader, "/v1/dead?fingerprint=x").status()).isEqualTo(422);
  }

  @Test
  void anErrorWithoutAReplyIsShownToAll() {
    desk.postgres.execute("update postrider.attempt set error = 'no connection: 10.0.0.1'");
    assertThat(desk.get(desk.viewer, "/v1/messages/" + id).text())
        .contains("no connection: 10.0.0.1");
  }
}

package dev.postrider.server.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.CreatedToken;
import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Scope;
import dev.postrider.server.Desk;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Tag("CH-5")
class StreamScopeTest {
  private static final Station STATION =
      new Station(Station.CONFIG.withHeartbeat(Duration.ofMillis(300)));

  @AfterAll
  static void close() {
    STATION.close();
  }

  @Test
  void aTokenOfATenantSeesThatTenantOnly() throws Exception {
    String token = STATION.token(Scope.tenant("tenant-a"));
    STATION.say("a", 1, 5);
    STATION.say("b", 1, 5);
    try (Listener all = Listener.open(STATION.desk, STATION.token, "?after=earliest");
        Listener late = Listener.open(STATION.desk, token, "?after=earliest")) {
      all.awaitEvents(10);
      STATION.say("b", 6, 5);
      STATION.say("a", 6, 5);
      all.awaitEvents(20);
      late.awaitEvents(10);
      assertThat(late.values("tenant")).hasSize(10).containsOnly("tenant-a");
    }
  }

  @Test
  void itCannotAskForAnother() {
    String token = STATION.token(Scope.tenant("tenant-a"));
    Desk.Answer answer = STATION.desk.get(token, "/v1/streams/events?tenant=tenant-b");
    assertThat(answer.status()).isEqualTo(403);
  }

  @Test
  void aTokenOfANamespaceSeesThatNamespaceOnly() throws Exception {
    STATION.say("n", 1, 1);
    STATION.desk.enqueue("'other', 'topic'");
    try (Listener listener =
        Listener.open(STATION.desk, STATION.token(Scope.namespace("other")), "?after=earliest")) {
      STATION.desk.enqueue("'other', 'topic'");
      listener.awaitEvents(2);
      assertThat(listener.values("namespace")).containsOnly("other");
    }
  }

  @Test
  void aRevokedTokenEndsItsStreams() throws Exception {
    CreatedToken token = STATION.desk.token(NewToken.of(Desk.name("revoked"), Permission.STREAM));
    try (Listener listener = Listener.open(STATION.desk, token.secret(), "")) {
      STATION.desk.tokens.revoke("tests", token.id());
      assertThat(listener.awaitEnd()).isEqualTo("unauthorized");
    }
  }

  @Test
  void aServerThatStopsSaysSo() throws Exception {
    Desk second = Desk.on(STATION.desk.postgres, server -> server.streams(Station.CONFIG));
    try (Listener listener = Listener.open(second, STATION.token, "")) {
      second.server.close();
      assertThat(listener.awaitEnd()).isEqualTo("shutdown");
      assertThat(listener.position()).isNotNegative();
    }
  }
}

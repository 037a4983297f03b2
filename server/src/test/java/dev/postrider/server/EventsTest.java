package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.access.Scope;
import dev.postrider.server.Desk.Answer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

@Tag("CH-6")
class EventsTest {
  private static final Desk DESK = Desk.open();
  private static UUID room;

  @BeforeAll
  static void deliver() {
    room =
        DESK.enqueue(
            "'chat', 'rooms', tenant => 't', aggregate_type => 'room', aggregate_id => '1',"
                + " event_type => 'said'");
    DESK.enqueue("'chat', 'rooms', tenant => 't', event_type => 'left'");
    DESK.carry(1, "ok");
    DESK.enqueue("'chat', 'rooms', tenant => 'u', event_type => 'said'");
    DESK.carry(3, "E1");
    DESK.enqueue("'chat', 'other', tenant => 'u', event_type => 'said'");
  }

  @AfterAll
  static void close() {
    DESK.close();
  }

  @Test
  void historyIsFoundByAggregateTypeTenantAndTime() {
    JsonNode events =
        DESK.get(DESK.viewer, "/v1/events?aggregate_type=room&aggregate_id=1").json().get("items");
    assertThat(events).hasSize(1);
    JsonNode event = events.get(0);
    assertThat(event.get("event_id").stringValue()).isEqualTo(room.toString());
    assertThat(event.get("attempts").get(0).get("state").stringValue()).isEqualTo("dispatched");
    assertThat(Instant.parse(event.get("delivered_at").stringValue()))
        .isAfterOrEqualTo(Instant.parse(event.get("occurred_at").stringValue()));
    assertThat(items("/v1/events?event_type=said")).isEqualTo(3);
    assertThat(items("/v1/events?tenant=u")).isEqualTo(2);
    assertThat(items("/v1/events?to=2020-01-01T00:00:00Z")).isZero();
    JsonNode dead = DESK.get(DESK.viewer, "/v1/events?tenant=u&topic=rooms").json();
    assertThat(dead.get("items").get(0).has("delivered_at")).isFalse();
    assertThat(dead.get("items").get(0).get("attempts").get(0).get("code").stringValue())
        .isEqualTo("E1");
  }

  private static int items(String path) {
    return DESK.get(DESK.viewer, path).json().get("items").size();
  }

  private static String range() {
    Instant from = Instant.now().minus(1, ChronoUnit.HOURS);
    return "from=" + from + "&to=" + from.plus(2, ChronoUnit.HOURS) + "&interval=PT10M";
  }

  private static int sum(JsonNode counts, String name) {
    return counts.get("items").valueStream().mapToInt(i -> i.get(name).intValue()).sum();
  }

  @Test
  void countsPerInterval() {
    JsonNode all = DESK.get(DESK.viewer, "/v1/events/counts?" + range()).json();
    assertThat(all.get("items")).hasSize(12);
    assertThat(sum(all, "events")).isEqualTo(4);
    assertThat(sum(all, "delivered")).isEqualTo(2);
    assertThat(sum(all, "failed")).isEqualTo(1);
    assertThat(all.get("items").get(0).get("complete").booleanValue()).isTrue();
    JsonNode said = DESK.get(DESK.viewer, "/v1/events/counts?event_type=said&" + range()).json();
    assertThat(sum(said, "events")).isEqualTo(3);
    assertThat(sum(said, "delivered")).isEqualTo(1);
  }

  @Test
  @Tag("CH-5")
  void aTenantCountsOnlyItsOwn() {
    String token =
        DESK.token(NewToken.of("tenant-t", Role.VIEWER).within(Scope.tenant("t"))).secret();
    Answer own = DESK.get(token, "/v1/events/counts?" + range());
    assertThat(sum(own.json(), "events")).isEqualTo(2);
    assertThat(DESK.get(token, "/v1/events").json().get("items")).hasSize(2);
    assertThat(DESK.get(token, "/v1/events/counts?tenant=u&" + range()).status()).isEqualTo(403);
  }
}

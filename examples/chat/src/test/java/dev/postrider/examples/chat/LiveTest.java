package dev.postrider.examples.chat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.enqueue.Outbox;
import dev.postrider.examples.chat.ChatRooms.Room;
import dev.postrider.message.NewMessage;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** What is posted at node A, heard at node B. */
@Timeout(120)
@Tag("CH-10")
class LiveTest {
  @AutoClose private final Office office = new Office().relaying();

  LiveTest() throws Exception {}

  @Test
  @Tag("CH-2")
  @Tag("CH-5")
  void aProjectHearsItsOwnMessagesOnEitherNode() throws Exception {
    try (Heard onA = new Heard(() -> office.onA(office.acme));
        Heard onB = new Heard(() -> office.onB(office.acme));
        Heard others = new Heard(() -> office.onB(office.globex))) {
      office.say(Office.ELSEWHERE, "for globex only");
      String id = office.say(Office.LOBBY, "hello \u2192 \"B\"\n");
      String last = office.say(Office.ELSEWHERE, "the end");
      JsonNode event = onB.awaitCount(1).get(0);
      assertThat(event.get("event_id").asString()).isEqualTo(id);
      assertThat(event.get("tenant").asString()).isEqualTo("acme");
      assertThat(event.get("aggregate_id").asString()).isEqualTo("lobby");
      assertThat(event.get("payload").get("text").asString()).isEqualTo("hello \u2192 \"B\"\n");
      onA.awaitCount(1);
      others.awaitCount(2);
      assertThat(others.ids()).hasSize(2).doesNotContain(id).endsWith(last);
      assertThat(onA.ids()).containsExactly(id);
      assertThat(onB.ids()).containsExactly(id);
    }
  }

  @Test
  @Tag("CH-5")
  void anotherProjectIsOutOfReach() throws Exception {
    office.say(Office.LOBBY, "secret");
    ChatClient globex = office.onB(office.globex);
    assertThat(globex.say(Office.LOBBY, "eve", "hi").statusCode()).isEqualTo(404);
    assertThat(globex.get("/my/projects/acme/chat/lobby/messages").statusCode()).isEqualTo(404);
    assertThat(globex.get("/v1/streams/events?tenant=acme").statusCode()).isEqualTo(403);
    assertThat(globex.get("/v1/events?tenant=acme").statusCode()).isEqualTo(403);
    assertThat(office.onA("postrider_1_wrong").say(Office.LOBBY, "eve", "hi").statusCode())
        .isEqualTo(401);
    // Nor may a project's token put events past the chat's own tables.
    assertThat(
            office
                .onA(office.acme)
                .post("/v1/messages", "{\"namespace\": \"chat\", \"topic\": \"messages\"}")
                .statusCode())
        .isEqualTo(403);
    assertThat(office.database.count("select count(*) from chat.message")).isEqualTo(1);
  }

  @Test
  @Tag("CH-3")
  @Tag("CH-4")
  void whoReconnectsMissesNothingHearsNothingTwiceAndInOrder() throws Exception {
    List<Room> rooms = List.of(Office.LOBBY, Office.SUPPORT);
    AtomicInteger turn = new AtomicInteger();
    try (Heard onB = new Heard(() -> office.onB(office.acme));
        Heard either =
            new Heard(
                () ->
                    turn.getAndIncrement() % 2 == 0
                        ? office.onB(office.acme)
                        : office.onA(office.acme))) {
      onB.awaitConnections(1);
      either.awaitConnections(1);
      int said = 0;
      for (int round = 1; round <= 3; round++) {
        for (int n = 0; n < 20; n++) {
          office.say(rooms.get(n % 2), "message " + ++said);
        }
        onB.awaitCount(said - 5); // some are on their way
        office.closeNodeB();
        for (int n = 0; n < 20; n++) {
          office.say(rooms.get(n % 2), "message " + ++said);
        }
        office.restartNodeB();
        onB.awaitConnections(round + 1);
      }
      onB.awaitCount(said);
      either.awaitCount(said);
      for (Heard client : List.of(onB, either)) {
        assertThat(client.ids()).hasSize(said).doesNotHaveDuplicates();
        for (Room room : rooms) {
          assertThat(client.ids(room.session())).isEqualTo(inOrder(room));
        }
      }
      assertThat(either.connections()).isGreaterThan(1);
    }
  }

  /** The history has the order of commits. */
  private List<String> inOrder(Room room) throws Exception {
    List<String> ids = new ArrayList<>();
    Office.json(
            office.onA(office.acme).get("/my/projects/acme/chat/" + room.session() + "/messages"))
        .get("items")
        .forEach(said -> ids.add(said.get("event_id").asString()));
    assertThat(ids)
        .isEqualTo(
            office.database.column(
                "select id from chat.message where session = '%s' order by number"
                    .formatted(room.session())));
    return ids;
  }

  @Test
  @Tag("CH-3")
  void whatIsDeliveredAgainIsHeardOnce() throws Exception {
    try (Heard onB = new Heard(() -> office.onB(office.acme))) {
      String first = office.say(Office.LOBBY, "once");
      onB.awaitCount(1);
      // As after an append whose answer was lost: the same event at another position.
      office.database.execute(
          "select * from postrider.stream_append(array['%s']::uuid[], array[1]::smallint[])"
              .formatted(first));
      String next = office.say(Office.LOBBY, "then");
      onB.awaitCount(2);
      assertThat(office.database.count("select count(*) from postrider.stream_event")).isEqualTo(3);
      assertThat(onB.ids()).containsExactly(first, next);
    }
  }

  @Test
  @Tag("CH-4")
  void aRoomThatIsHeldUpHoldsUpNoOther() throws Exception {
    office.say(Office.LOBBY, "the first of a topic, which the others do wait for");
    String lobbyKey = office.database.column("select ordering_key from postrider.message").get(0);
    try (Heard onB = new Heard(() -> office.onB(office.acme));
        Connection slow = office.database.dataSource().getConnection()) {
      slow.setAutoCommit(false);
      new Outbox()
          .enqueue(
              slow,
              NewMessage.to(ChatRooms.NAMESPACE, ChatRooms.TOPIC).key(lobbyKey).json("{}").build());
      String id = office.say(Office.SUPPORT, "nobody waits for the lobby");
      onB.awaitCount(2);
      assertThat(onB.ids()).endsWith(id);
    }
  }
}

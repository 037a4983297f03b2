package dev.postrider.examples.chat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.access.Tokens;
import dev.postrider.examples.chat.ChatRooms.Room;
import dev.postrider.examples.stage.Stage;
import dev.postrider.relay.Relay;
import dev.postrider.schema.Schema;
import dev.postrider.server.Metrics;
import dev.postrider.server.Server;
import dev.postrider.server.api.JsonText;
import dev.postrider.testkit.TestPostgres;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import tools.jackson.databind.JsonNode;

/** The whole chat on a database of its own: two nodes, a relay at node A, tokens. */
final class Office implements AutoCloseable {
  static final Room LOBBY = new Room("acme", "lobby");
  static final Room SUPPORT = new Room("acme", "support");
  static final Room ELSEWHERE = new Room("globex", "lobby");

  /** Shared by all tests of the run; it ends with it. */
  private static final TestPostgres POSTGRES = TestPostgres.start();

  private static final AtomicInteger NUMBER = new AtomicInteger();

  final TestPostgres database = POSTGRES.another("office" + NUMBER.incrementAndGet());
  final ChatRooms rooms = new ChatRooms(database.dataSource());
  final Moderation moderation = new Moderation(Set.of("casino"));
  final String acme;
  final String globex;
  final String operator;
  final Server nodeA;
  private final Relay relay;
  private Server nodeB;

  Office() throws Exception {
    DataSource dataSource = database.dataSource();
    Stage.createTables(dataSource, ChatRooms.class);
    for (Room room : Set.of(LOBBY, SUPPORT, ELSEWHERE)) {
      rooms.open(room);
    }
    acme = token(ChatFeature.token("acme", "acme"));
    globex = token(ChatFeature.token("globex", "globex"));
    operator = token(NewToken.of("operator", Role.OPERATOR));
    Metrics metrics = new Metrics();
    nodeA = ChatNode.start(dataSource, 0, metrics);
    nodeB = ChatNode.start(dataSource, 0, new Metrics());
    relay = ChatNode.relay(dataSource, moderation, metrics);
  }

  private String token(NewToken token) throws Exception {
    return new Tokens(database.dataSource(), Schema.DEFAULT).create("tests", token).secret();
  }

  Office relaying() {
    relay.start();
    return this;
  }

  Server nodeB() {
    return nodeB;
  }

  /** Ends node B; its clients must connect again. */
  void closeNodeB() {
    nodeB.close();
  }

  void restartNodeB() {
    nodeB = ChatNode.start(database.dataSource(), nodeB.port(), new Metrics());
  }

  ChatClient onA(String token) {
    return new ChatClient(nodeA.url(), token);
  }

  ChatClient onB(String token) {
    return new ChatClient(nodeB.url(), token);
  }

  /** Says it on node A and returns the message's id. */
  String say(Room room, String text) throws Exception {
    return json(onA(room.project().equals("acme") ? acme : globex).say(room, "ann", text))
        .get("id")
        .asString();
  }

  static JsonNode json(HttpResponse<String> answer) {
    return JsonText.read(answer.body().getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    relay.close();
    nodeA.close();
    nodeB.close();
  }
}

package dev.postrider.examples.chat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.access.Tokens;
import dev.postrider.examples.chat.ChatRooms.Room;
import dev.postrider.examples.stage.Stage;
import dev.postrider.internal.text.Json;
import dev.postrider.relay.Relay;
import dev.postrider.schema.Schema;
import dev.postrider.server.Metrics;
import dev.postrider.server.Server;
import dev.postrider.server.api.JsonText;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;

/**
 * Two nodes, in two processes, to open in two browsers. Some messages come by themselves, one of
 * them is held back for a while, and node B is killed and comes back.
 */
public final class Main {
  private static final Room LOBBY = new Room("acme", "lobby");
  private static final Room ELSEWHERE = new Room("globex", "lobby");
  private static final String BANNED = "casino";
  private static final String[] LINES = {
    "ann: good morning",
    "bob: morning! is the release out?",
    "ann: tagged an hour ago",
    "cem: then we meet at the casino tonight",
    "bob: the docs are live, too",
    "dee: nice work, everyone",
    "ann: who is on call this week?",
    "cem: I am, until Friday",
    "dee: thanks, cem",
    "bob: lunch at one?",
    "ann: yes, by the fountain",
    "dee: see you there"
  };

  /** Messages while there is something to show; then it is yours. */
  private static final int BRISK = 24;

  private static final Duration SLOW = Duration.ofSeconds(10);
  private static final int KILLED = 7;
  private static final int BACK = 12;
  private static final int MODERATED = 14;

  private final Stage stage;
  private final Moderation moderation = new Moderation(Set.of(BANNED));
  private final Metrics metrics = new Metrics();
  private final Set<String> posted = new HashSet<>();
  private final Set<String> arrived = ConcurrentHashMap.newKeySet();
  private final AtomicInteger foreign = new AtomicInteger();
  private volatile boolean ending;
  private final String acme;
  private final String globex;
  private final String operator;

  private Main(Stage stage) throws SQLException {
    this.stage = stage;
    ChatRooms rooms = new ChatRooms(stage.dataSource());
    rooms.open(LOBBY);
    rooms.open(ELSEWHERE);
    this.acme = token(ChatFeature.token(unique("acme"), LOBBY.project()));
    this.globex = token(ChatFeature.token(unique("globex"), ELSEWHERE.project()));
    this.operator = token(NewToken.of(unique("operator"), Role.OPERATOR));
  }

  public static void main(String[] arguments) throws Exception {
    Stage.run(Main.class, arguments, Map.of(), stage -> new Main(stage).play());
  }

  private String token(NewToken token) throws SQLException {
    return new Tokens(stage.dataSource(), Schema.DEFAULT)
        .create("example", token.expiringIn(Duration.ofDays(1)))
        .secret();
  }

  private static String unique(String name) {
    return name + "-" + UUID.randomUUID();
  }

  private void play() throws Exception {
    try (Server nodeA = ChatNode.start(stage.dataSource(), 0, metrics);
        Relay relay = ChatNode.relay(stage.dataSource(), moderation, metrics);
        RemoteNode nodeB = new RemoteNode(stage.url())) {
      relay.start();
      nodeB.start();
      stage.begin();
      stage.say("open in a browser:   %s", address(nodeA.url(), "ann", acme));
      stage.say("and in another one:  %s", address(nodeB.url(), "bob", acme));
      try (Follower follower =
          Follower.start(
              () -> new ChatClient(ending ? nodeA.url() : nodeB.url(), acme), this::show)) {
        talk(nodeA.url(), nodeB);
        ending = true; // resumed at node A if Ctrl-C has ended node B as well
        moderate(nodeA.url());
        awaitArrived();
        summary(nodeA.url(), follower.connections());
      }
    }
  }

  private static String address(String url, String name, String token) {
    return "%s/#project=%s&session=%s&name=%s&token=%s"
        .formatted(url, LOBBY.project(), LOBBY.session(), name, token);
  }

  private void show(JsonNode event) {
    arrived.add(event.get("event_id").asString());
    if (!event.get("tenant").asString().equals(LOBBY.project())) {
      foreign.incrementAndGet();
    }
    JsonNode said = event.path("payload"); // not there if it was archived
    stage.say(
        "B \u2190 %3d  %s: %s",
        event.get("position").asInt(),
        said.path("author").asString(""),
        said.path("text").asString(""));
  }

  /** On node A; and at times in another project, which nobody here must see. */
  private void talk(String nodeA, RemoteNode nodeB) throws Exception {
    for (int n = 0; stage.goesOn(n < BRISK ? Duration.ofMillis(300) : SLOW); n++) {
      String[] line = LINES[n % LINES.length].split(": ", 2);
      JsonNode said = done(new ChatClient(nodeA, acme).say(LOBBY, line[0], line[1]), 201);
      posted.add(said.get("id").asString());
      if (n % 5 == 0) {
        done(new ChatClient(nodeA, globex).say(ELSEWHERE, "eve", "for globex only"), 201);
      }
      if (n == KILLED) {
        nodeB.kill();
        stage.say("node B is killed; the talk goes on at node A");
      } else if (n == BACK) {
        nodeB.start();
        stage.say("node B is back");
      } else if (n == MODERATED) {
        moderate(nodeA);
      }
    }
  }

  /** What a moderator does in the console: looks, allows, sends again. */
  private void moderate(String node) throws Exception {
    ChatClient client = new ChatClient(node, operator);
    JsonNode dead = done(client.get("/v1/dead?namespace=chat&code=" + Moderation.CODE), 200);
    if (dead.get("items").isEmpty()) {
      return;
    }
    for (JsonNode letter : dead.get("items")) {
      stage.say("held back: %s, %s", letter.get("id").asString(), letter.get("error").asString());
    }
    moderation.allow(BANNED);
    String filter = Json.write(Map.of("namespace", ChatRooms.NAMESPACE, "code", Moderation.CODE));
    JsonNode sent = done(client.post("/v1/dead/requeue", "{\"filter\": " + filter + "}"), 200);
    stage.say("moderator: that may be said; %d sent again", sent.get("count").asInt());
  }

  private void awaitArrived() throws InterruptedException {
    for (int i = 0; i < 100 && !arrived.containsAll(posted); i++) {
      Thread.sleep(100);
    }
  }

  private void summary(String node, int connections) throws Exception {
    long missing = posted.stream().filter(id -> !arrived.contains(id)).count();
    stage.say(
        "%d posted in %s: %d missing here, after %d connections",
        posted.size(), LOBBY, missing, connections);
    stage.say(
        "%d posted in %s: %d seen here",
        stage.count("select count(*) from chat.message where project = 'globex'"),
        ELSEWHERE,
        foreign.get());
    Instant hour = Instant.now().truncatedTo(ChronoUnit.HOURS);
    String day =
        "from=%s&to=%s&interval=PT24H"
            .formatted(hour.minusSeconds(23 * 3600), hour.plusSeconds(3600));
    stage.say(
        "event history of acme, last 24 hours: %s",
        done(new ChatClient(node, acme).get("/v1/events/counts?" + day), 200).get("items").get(0));
    new ChatClient(node, operator)
        .get("/v1/metrics")
        .body()
        .lines()
        .filter(line -> line.matches("outbox_(publish_(success|failed)_total|pending_depth).*"))
        .forEach(line -> stage.say("metrics of node A: %s", line));
  }

  private static JsonNode done(HttpResponse<String> answer, int expected) throws IOException {
    if (answer.statusCode() != expected) {
      throw new IOException("status " + answer.statusCode() + ": " + answer.body());
    }
    return JsonText.read(answer.body().getBytes(StandardCharsets.UTF_8));
  }
}

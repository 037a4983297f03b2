package dev.postrider.server.operate;

import dev.postrider.access.Permission;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.monitor.LiveRelay;
import dev.postrider.internal.monitor.LiveRelay.Served;
import dev.postrider.message.Route;
import dev.postrider.operations.Pauses;
import dev.postrider.operations.Pauses.Kind;
import dev.postrider.operations.Pauses.Pause;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Listing;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Destinations and topics: what is paused, and what relays say about them. */
final class PauseEndpoints {
  private static final Field DESTINATION = Field.text("name", "The destination's name").mandatory();
  private static final Field NAMESPACE = Field.text("namespace", "The topic's").mandatory();
  private static final Field TOPIC = Field.text("topic", "The topic").mandatory();

  private static final Field FORCE =
      Field.of(
          "force",
          dev.postrider.server.api.Kind.BOOLEAN,
          "Pause it even if no relay knows it, before its first relay starts");

  private final Pauses pauses;
  private final Fleet fleet;

  PauseEndpoints(DataSource dataSource, Schema schema) {
    this.pauses = new Pauses(dataSource, schema);
    this.fleet = new Fleet(dataSource, schema);
  }

  /**
   * A destination.
   *
   * @param type null, as the breaker, if no living relay serves it
   * @param breaker the worst of its relays: open, half_open or closed
   * @param openTargets at all its relays together
   * @param relays the names of the living relays that serve it
   */
  record ShownDestination(
      String name,
      boolean paused,
      @Nullable String pausedBy,
      @Nullable Instant pausedAt,
      @Nullable String type,
      @Nullable String breaker,
      int openTargets,
      List<String> relays) {}

  /** Whether it was otherwise before. */
  record Changed(String name, boolean changed) {}

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/destinations", Permission.READ)
            .about("destinations", "Destinations that a living relay serves, or that are paused")
            .answersList(ShownDestination.class)
            .handledBy(call -> Listing.of(destinations())),
        Endpoint.post("/v1/destinations/pause", Permission.OPERATE)
            .about(
                "destinations",
                "Stop a destination; its messages stay pending. Refused if no relay knows it,"
                    + " unless forced")
            .body(DESTINATION, FORCE)
            .answers(Changed.class)
            .handledBy(call -> pause(call, Kind.DESTINATION, call.body().textOf("name"))),
        Endpoint.post("/v1/destinations/resume", Permission.OPERATE)
            .about("destinations", "Let a destination go on")
            .body(DESTINATION)
            .answers(Changed.class)
            .handledBy(call -> resume(call, Kind.DESTINATION, call.body().textOf("name"))),
        Endpoint.get("/v1/topics/paused", Permission.READ)
            .about("topics", "Topics that are paused, as namespace/topic")
            .answersList(Pause.class)
            .handledBy(call -> Listing.of(paused(Kind.TOPIC).values())),
        Endpoint.post("/v1/topics/pause", Permission.OPERATE)
            .about("topics", "Stop a topic; its messages stay pending")
            .body(NAMESPACE, TOPIC)
            .answers(Changed.class)
            .handledBy(call -> pause(call, Kind.TOPIC, topic(call))),
        Endpoint.post("/v1/topics/resume", Permission.OPERATE)
            .about("topics", "Let a topic go on")
            .body(NAMESPACE, TOPIC)
            .answers(Changed.class)
            .handledBy(call -> resume(call, Kind.TOPIC, topic(call))));
  }

  private static String topic(Call call) {
    return new Route(call.body().textOf("namespace"), call.body().textOf("topic")).toString();
  }

  private Object pause(Call call, Kind kind, String name) throws SQLException {
    boolean force = kind == Kind.DESTINATION && call.body().flag("force");
    return new Changed(name, pauses.pause(call.actor(), kind, name, force));
  }

  private Object resume(Call call, Kind kind, String name) throws SQLException {
    return new Changed(name, pauses.resume(call.actor(), kind, name));
  }

  private Map<String, Pause> paused(Kind kind) throws SQLException {
    return pauses.list().stream()
        .filter(pause -> pause.kind() == kind)
        .collect(Collectors.toMap(Pause::name, Function.identity(), (a, b) -> a, TreeMap::new));
  }

  private List<ShownDestination> destinations() throws SQLException {
    Map<String, Pause> paused = paused(Kind.DESTINATION);
    Map<String, List<Seen>> served = new TreeMap<>();
    paused.keySet().forEach(name -> served.put(name, new ArrayList<>()));
    for (LiveRelay relay : fleet.read().living()) {
      for (Served one : relay.destinations()) {
        served
            .computeIfAbsent(one.name(), name -> new ArrayList<>())
            .add(new Seen(relay.name(), one));
      }
    }
    return served.entrySet().stream()
        .map(entry -> shown(entry.getKey(), paused.get(entry.getKey()), entry.getValue()))
        .toList();
  }

  /** A destination as one relay sees it. */
  private record Seen(String relay, Served served) {
    int trouble() {
      return List.of("closed", "half_open", "open").indexOf(served.breaker());
    }
  }

  private static ShownDestination shown(String name, @Nullable Pause pause, List<Seen> seen) {
    Optional<Served> worst =
        seen.stream().max(Comparator.comparingInt(Seen::trouble)).map(Seen::served);
    return new ShownDestination(
        name,
        pause != null,
        pause == null ? null : pause.pausedBy(),
        pause == null ? null : pause.pausedAt(),
        worst.map(Served::type).orElse(null),
        worst.map(Served::breaker).orElse(null),
        seen.stream().mapToInt(one -> one.served().openTargets()).sum(),
        seen.stream().map(Seen::relay).toList());
  }
}

package dev.postrider.server.operate;

import dev.postrider.access.Permission;
import dev.postrider.relay.RelayStatus;
import dev.postrider.relay.RelayStatus.DestinationStatus;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Listing;
import dev.postrider.store.Pauses;
import dev.postrider.store.Pauses.Kind;
import dev.postrider.store.Pauses.Pause;
import dev.postrider.store.Schema;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Destinations and topics: what is paused, and what the relay of this process knows. */
final class PauseEndpoints {
  private static final Field DESTINATION = Field.text("name", "The destination's name").mandatory();
  private static final Field NAMESPACE = Field.text("namespace", "The topic's").mandatory();
  private static final Field TOPIC = Field.text("topic", "The topic").mandatory();

  private final Pauses pauses;
  private final @Nullable Supplier<RelayStatus> relay;

  PauseEndpoints(DataSource dataSource, Schema schema, @Nullable Supplier<RelayStatus> relay) {
    this.pauses = new Pauses(dataSource, schema);
    this.relay = relay;
  }

  /**
   * A destination.
   *
   * @param breaker null if no relay of this process serves it
   */
  record ShownDestination(
      String name,
      boolean paused,
      @Nullable String pausedBy,
      @Nullable Instant pausedAt,
      @Nullable String breaker,
      @Nullable Integer inFlight) {}

  /** Whether it was otherwise before. */
  record Changed(String name, boolean changed) {}

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/destinations", Permission.READ)
            .about(
                "destinations",
                "Destinations that are paused, or that a relay of this process serves: only of"
                    + " those is the breaker known")
            .answersList(ShownDestination.class)
            .handledBy(call -> Listing.of(destinations())),
        Endpoint.post("/v1/destinations/pause", Permission.OPERATE)
            .about("destinations", "Stop a destination; its messages stay pending")
            .body(DESTINATION)
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
    return call.body().textOf("namespace") + "/" + call.body().textOf("topic");
  }

  private Object pause(Call call, Kind kind, String name) throws SQLException {
    return new Changed(name, pauses.pause(call.actor(), kind, name));
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
    Map<String, DestinationStatus> served = relay == null ? Map.of() : relay.get().destinations();
    TreeSet<String> names = new TreeSet<>(paused.keySet());
    names.addAll(served.keySet());
    return names.stream().map(name -> shown(name, paused.get(name), served.get(name))).toList();
  }

  private static ShownDestination shown(
      String name, @Nullable Pause pause, @Nullable DestinationStatus served) {
    return new ShownDestination(
        name,
        pause != null,
        pause == null ? null : pause.pausedBy(),
        pause == null ? null : pause.pausedAt(),
        served == null ? null : served.breaker(),
        served == null ? null : served.inFlight());
  }
}

package dev.postrider.relay;

import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.text.Json;
import dev.postrider.internal.text.LogLine;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells operators what this relay serves: in the log, and in the database for the whole fleet to
 * see. It writes once when it starts, then only breakers that changed. {@link #update} is called by
 * one thread.
 */
final class Registration {
  private static final Logger log = LoggerFactory.getLogger(Registration.class);

  private final Identity identity;
  private final List<Dispatcher> dispatchers;
  private final List<RouteBinding> bindings;
  private final String record;
  private final String breakers;
  private final Map<String, Breaker> recorded = new LinkedHashMap<>();
  private int recordedWorker;

  private record Breaker(String state, int openTargets, long probeAtNanos) {
    private static final String OPEN = "open";

    static final Breaker CLOSED = new Breaker("closed", 0, 0);

    static Breaker of(Dispatcher dispatcher) {
      String state = dispatcher.breakerState();
      return new Breaker(
          state, dispatcher.openTargets(), state.equals(OPEN) ? dispatcher.probeAtNanos() : 0);
    }

    long probeInMillis() {
      return state.equals(OPEN) ? Math.max(0, (probeAtNanos - System.nanoTime()) / 1_000_000) : 0;
    }
  }

  Registration(
      Identity identity, List<Dispatcher> dispatchers, List<RouteBinding> bindings, Schema schema) {
    this.identity = identity;
    this.dispatchers = dispatchers;
    this.bindings = bindings;
    this.record = schema.sql("select postrider.relay_record(?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb)");
    this.breakers = schema.sql("select postrider.relay_breakers(?, ?, ?, ?, ?, ?)");
  }

  /** Logs one line that says what the relay serves; long lists are cut. */
  void log() {
    log.info(
        "{}",
        LogLine.of("outbox_relay_started")
            .put("relay", identity.name())
            .put("version", identity.version())
            .put("destinations", joined(dispatchers, d -> d.name() + " (" + d.type() + ")"))
            .put("routes", joined(bindings, RouteBinding::toString)));
  }

  private static <T> String joined(List<T> values, Function<T, String> text) {
    return values.stream().map(text).limit(100).collect(Collectors.joining(", "));
  }

  /**
   * Brings the record up to date.
   *
   * @param worker the number of the relay's first carrier; 0 before it is connected
   */
  void update(Connection connection, int worker) throws SQLException {
    if (worker != 0 && (worker == recordedWorker || record(connection, worker))) {
      updateBreakers(connection, worker);
    }
  }

  private boolean record(Connection connection, int worker) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(record)) {
      call.setInt(1, worker);
      call.setString(2, identity.instance());
      call.setString(3, identity.version());
      call.setString(4, identity.host());
      call.setLong(5, identity.pid());
      call.setBoolean(6, identity.listens());
      call.setString(7, destinations());
      call.setString(8, routes());
      boolean done = isTrue(call);
      recordedWorker = done ? worker : 0;
      recorded.clear();
      return done;
    }
  }

  private String destinations() {
    return array(
        dispatchers.stream().map(d -> Map.of("name", d.name(), "type", d.type())).toList());
  }

  private String routes() {
    return array(
        bindings.stream()
            .map(
                binding ->
                    Map.of(
                        "namespace", binding.namespace(),
                        "topic", binding.topic(),
                        "subscription", binding.subscription(),
                        "destination", binding.dispatcher().name()))
            .toList());
  }

  private static String array(List<Map<String, String>> objects) {
    StringJoiner out = new StringJoiner(",", "[", "]");
    objects.forEach(object -> out.add(Json.write(object)));
    return out.toString();
  }

  private void updateBreakers(Connection connection, int worker) throws SQLException {
    Map<String, Breaker> changed = changed();
    if (changed.isEmpty()) {
      return;
    }
    List<Breaker> now = new ArrayList<>(changed.values());
    try (PreparedStatement call = connection.prepareStatement(breakers)) {
      call.setInt(1, worker);
      call.setString(2, identity.instance());
      call.setArray(3, connection.createArrayOf("text", changed.keySet().toArray()));
      call.setArray(
          4, connection.createArrayOf("text", now.stream().map(Breaker::state).toArray()));
      call.setArray(
          5, connection.createArrayOf("int4", now.stream().map(Breaker::openTargets).toArray()));
      call.setArray(
          6, connection.createArrayOf("int8", now.stream().map(Breaker::probeInMillis).toArray()));
      if (isTrue(call)) {
        recorded.putAll(changed);
      } else {
        recordedWorker = 0; // somebody deleted the record: make it again
      }
    }
  }

  private Map<String, Breaker> changed() {
    Map<String, Breaker> changed = new LinkedHashMap<>();
    for (Dispatcher dispatcher : dispatchers) {
      Breaker now = Breaker.of(dispatcher);
      if (!now.equals(recorded.getOrDefault(dispatcher.name(), Breaker.CLOSED))) {
        changed.put(dispatcher.name(), now);
      }
    }
    return changed;
  }

  private static boolean isTrue(PreparedStatement call) throws SQLException {
    try (ResultSet row = call.executeQuery()) {
      return row.next() && row.getBoolean(1);
    }
  }
}

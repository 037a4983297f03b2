package dev.postrider.server.health;

import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.monitor.LiveRelay;
import dev.postrider.message.PostriderException;
import dev.postrider.observe.Backlog;
import dev.postrider.relay.RelayStatus;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How the parts are, from the last sample of the database and the relay's own word. Thread-safe.
 */
public final class Pulse {
  /** Samples are taken every two seconds and give up after two more. */
  private static final Duration SAMPLE_AGE_MAX = Duration.ofSeconds(10);

  /** Polls are a second apart; a loop that did not come round for this long hangs. */
  private static final Duration LOOP_AGE_MAX = Duration.ofSeconds(60);

  private final @Nullable Supplier<RelayStatus> relay;
  private final @Nullable Fleet fleet;
  private final Duration oldestMax;
  private final LongSupplier nanoClock;
  private volatile @Nullable Beat last;

  private record Beat(Backlog backlog, Fleet.@Nullable State fleet, long atNanos) {}

  /**
   * @param relay the one of this process, if there is one
   * @param fleet all relays; null if they are not to be shown
   */
  public Pulse(
      @Nullable Supplier<RelayStatus> relay,
      @Nullable Fleet fleet,
      Duration oldestMax,
      LongSupplier nanoClock) {
    this.relay = relay;
    this.fleet = fleet;
    this.oldestMax = oldestMax;
    this.nanoClock = nanoClock;
  }

  /** The database answered, with this. */
  public void beat(Backlog backlog) {
    try {
      last = new Beat(backlog, fleet == null ? null : fleet.read(), nanoClock.getAsLong());
    } catch (SQLException e) {
      throw new PostriderException("the relays cannot be read: " + e.getMessage(), e);
    }
  }

  /** The relays as they were at the last beat; null before it, or if they are not to be shown. */
  public Fleet.@Nullable State fleet() {
    Beat beat = last;
    return beat == null ? null : beat.fleet;
  }

  /** Each part, by name. */
  Map<String, HealthPart> parts() {
    Map<String, HealthPart> parts = new LinkedHashMap<>();
    Beat beat = last;
    parts.put("database", database(beat));
    if (relay != null) {
      RelayStatus status = relay.get();
      parts.put("relay", relay(status, status.running()));
      parts.put("listener", listener(status));
      parts.put("destinations", destinations(status));
    }
    if (beat != null) {
      parts.put("backlog", backlog(beat.backlog));
      if (beat.fleet != null) {
        parts.put("fleet", fleet(beat.fleet));
      }
    }
    return parts;
  }

  /**
   * Whether a restart would help: only a relay that hangs is not alive. One that its database
   * refuses tries again by itself.
   */
  Map<String, HealthPart> vitals() {
    if (relay == null) {
      return Map.of();
    }
    RelayStatus status = relay.get();
    return Map.of("relay", relay(status, status.running() || status.failure() != null));
  }

  private HealthPart database(@Nullable Beat beat) {
    if (beat == null) {
      return new HealthPart(Health.DOWN, Map.of("error", "no answer yet"));
    }
    Duration age = Duration.ofNanos(nanoClock.getAsLong() - beat.atNanos);
    return new HealthPart(
        age.compareTo(SAMPLE_AGE_MAX) > 0 ? Health.DOWN : Health.UP,
        Map.of("answered_seconds_ago", age.toSeconds()));
  }

  private static HealthPart relay(RelayStatus status, boolean runs) {
    boolean well = runs && status.sinceLoop().compareTo(LOOP_AGE_MAX) <= 0;
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("name", status.name());
    details.put("running", status.running());
    details.put("loop_seconds_ago", status.sinceLoop().toMillis() / 1000.0);
    if (status.failure() != null) {
      details.put("failure", status.failure());
    }
    return new HealthPart(well ? Health.UP : Health.DOWN, details);
  }

  /** Without it the relay polls: slower, but it goes on. */
  private static HealthPart listener(RelayStatus status) {
    return new HealthPart(
        status.listening() ? Health.UP : Health.DEGRADED, Map.of("listening", status.listening()));
  }

  /** Somebody else's outage is no reason to take this process out of service. */
  private static HealthPart destinations(RelayStatus status) {
    boolean open =
        status.destinations().values().stream().anyMatch(d -> !d.breaker().equals("closed"));
    return new HealthPart(open ? Health.DEGRADED : Health.UP, Map.copyOf(status.destinations()));
  }

  /** Relays of other processes: their trouble is no reason to take this one out of service. */
  private static HealthPart fleet(Fleet.State fleet) {
    List<LiveRelay> living = fleet.living();
    boolean open =
        living.stream().flatMap(r -> r.destinations().stream()).anyMatch(d -> !d.closed());
    boolean well = !living.isEmpty() && !open && fleet.unrouted().isEmpty();
    return new HealthPart(
        well ? Health.UP : Health.DEGRADED,
        Map.of("relays", fleet.relays(), "unrouted", fleet.unrouted()));
  }

  private HealthPart backlog(Backlog backlog) {
    Duration age = backlog.oldestAge();
    return new HealthPart(
        age.compareTo(oldestMax) > 0 ? Health.DEGRADED : Health.UP,
        Map.of(
            "oldest_pending_seconds", age.toMillis() / 1000.0,
            "pending", backlog.pending(),
            "dead", backlog.dead()));
  }
}

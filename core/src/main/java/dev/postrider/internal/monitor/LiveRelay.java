package dev.postrider.internal.monitor;

import dev.postrider.message.Route;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A relay, or a loop on the lease store, that has not said that it stopped. Immutable.
 *
 * @param instance tells processes with the same name apart; empty for a loop on the lease store
 * @param version of Postrider; null, as host and pid, if it has not recorded what it serves
 * @param sinceSeen by the database's clock
 * @param inFlight messages that it holds
 * @param routes the first 100 of them
 */
public record LiveRelay(
    String name,
    String instance,
    @Nullable String version,
    @Nullable String host,
    @Nullable Long pid,
    Instant startedAt,
    Duration sinceSeen,
    long inFlight,
    long leases,
    List<Served> destinations,
    List<ServedRoute> routes) {
  /** A relay is seen every reap interval, which is a minute at most. */
  private static final Duration LOST = Duration.ofMinutes(2);

  /**
   * A destination as one relay sees it. Immutable.
   *
   * @param breaker closed, open or half_open
   * @param openTargets targets of it that fail and are left alone for a while
   * @param since when it stopped or began to answer, or the number of open targets changed
   * @param probeAt when the relay tries it again; null unless the breaker is open
   */
  public record Served(
      String name,
      String type,
      String breaker,
      int openTargets,
      Instant since,
      @Nullable Instant probeAt) {
    /** Whether messages pass. */
    public boolean closed() {
      return breaker.equals("closed");
    }
  }

  /** Which messages a relay sends to which destination; {@code *} means all. Immutable. */
  public record ServedRoute(
      String namespace, String topic, String subscription, String destination) {
    /** What it serves. */
    public Route route() {
      return new Route(namespace, topic, subscription);
    }

    @Override
    public String toString() {
      return route() + " -> " + destination;
    }
  }

  public LiveRelay {
    destinations = List.copyOf(destinations);
    routes = List.copyOf(routes);
  }

  /** Whether it should have been seen by now. */
  public boolean lost() {
    return sinceSeen.compareTo(LOST) > 0;
  }
}

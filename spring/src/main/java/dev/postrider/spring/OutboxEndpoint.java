package dev.postrider.spring;

import dev.postrider.deadletter.DeadLetter;
import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.message.Route;
import dev.postrider.observe.Backlog;
import java.security.Principal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * The actuator endpoint {@code postrider}: the backlog, the relays, dead letters and their requeue.
 * Shows no payloads. Thread-safe.
 */
@Endpoint(id = "postrider")
public final class OutboxEndpoint {
  private static final int PAGE = 100;

  private final OutboxSchema database;
  private final Fleet fleet;
  private final DeadLetters letters;

  OutboxEndpoint(OutboxSchema database) {
    this.database = database;
    this.fleet = new Fleet(database.dataSource(), database.schema());
    this.letters = new DeadLetters(database.dataSource(), database.schema());
  }

  /**
   * How the outbox is.
   *
   * @param unrouted topics with messages that no relay has a route for
   */
  public record Status(
      long pending,
      double oldestPendingSeconds,
      long processing,
      long dead,
      long blockedKeys,
      List<TopicStatus> topics,
      List<RelaySummary> relays,
      List<String> unrouted) {}

  /**
   * Pending and dead messages of a topic.
   *
   * @param subscription empty for the default one
   */
  public record TopicStatus(
      String namespace, String topic, String subscription, long pending, long dead) {}

  /** A relay of the fleet, in any process. */
  public record RelaySummary(
      String name, @Nullable String version, long inFlight, List<String> routes, boolean lost) {}

  /**
   * A dead message.
   *
   * @param subscription empty for the default one
   */
  public record DeadSummary(
      UUID id,
      String namespace,
      String topic,
      String subscription,
      @Nullable String key,
      @Nullable String eventType,
      int attempts,
      boolean blocking,
      Instant diedAt,
      @Nullable String code,
      @Nullable String error) {}

  @ReadOperation
  public Status status() throws SQLException {
    Backlog backlog;
    try (Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(true);
      backlog = Backlog.read(connection, database.schema());
    }
    Fleet.State state = fleet.read();
    return new Status(
        backlog.pending(),
        backlog.oldestAge().toMillis() / 1000.0,
        backlog.processing(),
        backlog.dead(),
        backlog.blockedKeys(),
        backlog.topics().stream()
            .map(
                topic ->
                    new TopicStatus(
                        topic.route().namespace(),
                        topic.route().topic(),
                        topic.route().subscription(),
                        topic.pending(),
                        topic.dead()))
            .toList(),
        state.relays().stream()
            .map(
                relay ->
                    new RelaySummary(
                        relay.name(),
                        relay.version(),
                        relay.inFlight(),
                        relay.routes().stream().map(String::valueOf).toList(),
                        relay.lost()))
            .toList(),
        state.unrouted().stream().map(Route::toString).toList());
  }

  /** The newest dead letters. */
  @ReadOperation
  public List<DeadSummary> list(@Selector String part) throws SQLException {
    if (!part.equals("dead")) {
      throw new InvalidEndpointRequestException(
          "expected /postrider or /postrider/dead", "unknown part");
    }
    return letters.list(DeadLetterFilter.all(), true, null, PAGE).items().stream()
        .map(OutboxEndpoint::summary)
        .toList();
  }

  private static DeadSummary summary(DeadLetter letter) {
    return new DeadSummary(
        letter.id(),
        letter.route().namespace(),
        letter.route().topic(),
        letter.route().subscription(),
        letter.key(),
        letter.eventType(),
        letter.attempts(),
        letter.blocking(),
        letter.diedAt(),
        letter.code(),
        letter.error());
  }

  /** Sends a dead message again. */
  @WriteOperation
  public Map<String, Boolean> requeue(
      @Selector String part, @Selector String id, SecurityContext security) throws SQLException {
    UUID message;
    try {
      message = UUID.fromString(id);
    } catch (IllegalArgumentException e) {
      throw new InvalidEndpointRequestException("expected the id of a message", "id", e);
    }
    Principal caller = security.getPrincipal();
    String actor = caller == null ? "actuator" : caller.getName();
    return Map.of("requeued", part.equals("dead") && letters.requeue(actor, message));
  }
}

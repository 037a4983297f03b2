package dev.postrider.internal.monitor;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Why a message is not delivered, as the engine knows it at this moment. Thread-safe if the data
 * source is.
 */
public final class Why {
  private static final String ASK = "select * from postrider.why(?)";

  private final Database database;

  public Why(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /** What holds a message back. */
  public enum Kind {
    DELIVERED,
    DEAD,
    DISCARDED,
    LEASED,
    LEASE_OVER,
    CATCHING_UP,
    TOPIC_PAUSED,
    NO_RELAY,
    NO_ROUTE,
    DESTINATION_PAUSED,
    BREAKER_OPEN,
    BEHIND,
    BACKOFF,
    DELAYED,
    DEFERRED,
    SUSPECT,
    READY
  }

  /**
   * One reason. Immutable.
   *
   * @param message whose reason it is: the message's own, or that of the one it waits for
   * @param subscription which one has not got it; empty for the default one
   * @param relay who holds it or, if it is paused, who paused it
   * @param other the message that it waits for
   * @param count relays, attempts, lost leases or messages in front, or the number of a replay,
   *     depending on the reason
   */
  public record Reason(
      UUID message,
      String subscription,
      Kind reason,
      @Nullable Instant since,
      @Nullable Instant until,
      @Nullable String relay,
      @Nullable String destination,
      @Nullable UUID other,
      @Nullable String code,
      @Nullable Long count) {

    /** One sentence, with times in UTC. */
    public String text() {
      return subscription.isEmpty()
          ? sentence()
          : "Subscription " + subscription + ": " + sentence();
    }

    private String sentence() {
      return switch (reason) {
        case DELIVERED -> "It was delivered" + at(" at ", since) + ".";
        case DEAD -> "It is dead" + at(" since ", since) + with(" with the code ", code) + ".";
        case DISCARDED -> "It was discarded" + at(" at ", since) + ".";
        case LEASED -> "Relay " + relay + " holds it until " + time(until) + ".";
        case LEASE_OVER ->
            "The lease of relay %s ended at %s. A relay returns the message to the queue soon."
                .formatted(relay, time(until));
        case CATCHING_UP ->
            count == null
                ? "Its subscription was removed before it had its earlier messages. Discard what"
                    + " waits for it: subscriptions remove --discard."
                : "It waits until the subscription has its earlier messages: replay %d, %s, last step at %s."
                    .formatted(count, code, time(since));
        case TOPIC_PAUSED -> "Its topic is paused by " + relay + at(" since ", since) + ".";
        case NO_RELAY -> "No relay runs.";
        case NO_ROUTE -> "None of the relays has a route for its topic.";
        case DESTINATION_PAUSED ->
            "Destination %s is paused by %s%s.".formatted(destination, relay, at(" since ", since));
        case BREAKER_OPEN ->
            "Destination %s does not answer: its breaker is open%s%s."
                .formatted(destination, at(" since ", since), at(", the next probe is at ", until));
        case BEHIND ->
            "It waits behind "
                + (other == null ? "another message" : "message " + other)
                + " of the same key.";
        case BACKOFF ->
            "It failed%s and is tried again at %s.".formatted(with(" with ", code), time(until));
        case DELAYED -> "It is to be delivered at " + time(until) + ", not before.";
        case DEFERRED ->
            "A relay could not send it to its target and tries again at " + time(until) + ".";
        case SUSPECT ->
            "Its relays died or lost their leases %d times, so it is sent alone when a relay is idle."
                .formatted(count);
        case READY -> "Nothing holds it back: a relay takes it with one of its next claims.";
      };
    }

    /** For those who may not know which message it waits for. */
    public Reason withoutOther() {
      return new Reason(
          message, subscription, reason, since, until, relay, destination, null, code, null);
    }

    private static String with(String before, @Nullable String text) {
      return text == null ? "" : before + text;
    }

    private static String at(String before, @Nullable Instant time) {
      return time == null ? "" : before + time(time);
    }

    private static String time(@Nullable Instant time) {
      return time == null ? "an unknown time" : time.truncatedTo(ChronoUnit.SECONDS).toString();
    }
  }

  /**
   * Everything that holds it back in each subscription, in the order in which it has to go away;
   * then the reasons of the message that it waits for, if it waits for one. Empty if there is no
   * such message.
   */
  public List<Reason> ask(UUID id) throws SQLException {
    return database.list(ASK, Why::reason, id);
  }

  private static Reason reason(ResultSet row) throws SQLException {
    return new Reason(
        row.getObject("message", UUID.class),
        row.getString("subscription"),
        Kind.valueOf(row.getString("reason").toUpperCase(Locale.ROOT)),
        Database.instant(row, "since"),
        Database.instant(row, "until"),
        row.getString("relay"),
        row.getString("destination"),
        row.getObject("other", UUID.class),
        row.getString("code"),
        row.getObject("count", Long.class));
  }
}

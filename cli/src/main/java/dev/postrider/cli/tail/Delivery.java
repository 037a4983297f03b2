package dev.postrider.cli.tail;

import dev.postrider.message.AttemptState;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import dev.postrider.store.Database;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An attempt with its message. Immutable; the payload array is not copied.
 *
 * @param payload null unless it was asked for
 */
public record Delivery(
    UUID id,
    Route route,
    @Nullable String key,
    @Nullable Long sequence,
    @Nullable String eventType,
    AttemptState state,
    int delivery,
    int attempt,
    Instant finishedAt,
    @Nullable Integer latencyMs,
    @Nullable String code,
    String contentType,
    byte @Nullable [] payload) {

  private static final AttemptState[] STATES = AttemptState.values();

  static Delivery read(ResultSet row) throws SQLException {
    @Nullable String type = row.getString("content_type");
    return new Delivery(
        row.getObject("message_id", UUID.class),
        new Route(row.getString("namespace"), row.getString("topic")),
        row.getString("ordering_key"),
        row.getObject("sequence", Long.class),
        row.getString("event_type"),
        STATES[row.getInt("state")],
        row.getInt("delivery"),
        row.getInt("no"),
        Objects.requireNonNull(Database.instant(row, "finished_at")),
        row.getObject("latency_ms", Integer.class),
        row.getString("code"),
        type == null ? Message.JSON : type,
        row.getBytes("payload"));
  }

  /** Tells it from all others. */
  Seen seen() {
    return new Seen(id, delivery, attempt, state, finishedAt);
  }

  /** What was shown already. */
  record Seen(UUID id, int delivery, int attempt, AttemptState state, Instant finishedAt) {}
}

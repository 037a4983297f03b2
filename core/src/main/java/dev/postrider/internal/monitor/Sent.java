package dev.postrider.internal.monitor;

import dev.postrider.message.Route;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The message of an attempt. Immutable; the payload array is not copied.
 *
 * @param json whether the payload is valid JSON, as enqueue has found
 * @param payload null unless it was asked for
 */
public record Sent(
    UUID id,
    Route route,
    @Nullable String key,
    @Nullable Long sequence,
    @Nullable String eventType,
    boolean json,
    byte @Nullable [] payload) {

  static Sent read(ResultSet row) throws SQLException {
    return new Sent(
        row.getObject("id", UUID.class),
        new Route(row.getString("namespace"), row.getString("topic")),
        row.getString("ordering_key"),
        row.getObject("sequence", Long.class),
        row.getString("event_type"),
        row.getBoolean("is_json"),
        row.getBytes("payload"));
  }
}

package dev.postrider.lease;

import dev.postrider.internal.text.Json;
import dev.postrider.message.Claimed;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads a row of {@code postrider.claim} joined with its route. */
final class ClaimedRow {
  private ClaimedRow() {}

  static Claimed read(ResultSet row) throws SQLException {
    @Nullable String contentType = row.getString("content_type");
    Message message =
        new Message(
            row.getObject("id", UUID.class),
            new Route(
                row.getString("namespace"), row.getString("topic"), row.getString("subscription")),
            row.getString("ordering_key"),
            row.getLong("sequence"),
            row.getString("dedupe_key"),
            row.getString("tenant"),
            row.getString("aggregate_type"),
            row.getString("aggregate_id"),
            row.getString("event_type"),
            contentType == null ? Message.JSON : contentType,
            row.getBoolean("is_json"),
            Json.read(row.getString("headers")),
            row.getBytes("payload"),
            row.getObject("created_at", OffsetDateTime.class).toInstant(),
            row.getInt("attempt"),
            row.getInt("delivery"),
            row.getLong("token"));
    return new Claimed(
        message,
        row.getInt("route"),
        row.getLong("key_id"),
        row.getInt("lost_leases"),
        row.getString("tid"));
  }
}

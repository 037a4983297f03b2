package dev.postrider.internal.claim;

import dev.postrider.internal.text.Json;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The columns of a claimed message, and how a row becomes a message. */
public final class MessageRow {
  public static final String COLUMNS =
      """
      id, ordering_key, sequence, dedupe_key, tenant, aggregate_type, aggregate_id, event_type,
      content_type, is_json, headers, payload, created_at, attempt, delivery, token""";

  private MessageRow() {}

  public static Message read(ResultSet row, Route route) throws SQLException {
    @Nullable String contentType = row.getString("content_type");
    return new Message(
        row.getObject("id", UUID.class),
        route,
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
  }
}

package dev.postrider.claim;

import dev.postrider.message.Claimed;
import dev.postrider.message.Json;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import dev.postrider.store.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Takes due messages under a lease. Thread-safe; the connection is the caller's. */
public final class Claims {
  private static final String CLAIM =
      """
      select id, token, lane, attempt, delivery, key_id, sequence, route, created_at, tenant,
             aggregate_type, aggregate_id, event_type, ordering_key, dedupe_key, content_type,
             headers, payload, tid
        from postrider.claim(?, ?, ?, ?, ?, ?, ?, ?, ?)
      """;

  private final String claim;

  public Claims(Schema schema) {
    this.claim = schema.sql(CLAIM);
  }

  /** Messages of one key come in their order; all of them stand under one token. */
  public List<Claimed> take(Connection connection, ClaimRequest request, IntFunction<Route> routes)
      throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(claim)) {
      bind(connection, call, request);
      try (ResultSet row = call.executeQuery()) {
        List<Claimed> claimed = new ArrayList<>(request.limit());
        while (row.next()) {
          claimed.add(claimed(row, routes));
        }
        return claimed;
      }
    }
  }

  private static void bind(Connection connection, PreparedStatement call, ClaimRequest request)
      throws SQLException {
    call.setInt(1, request.worker());
    call.setInt(2, request.limit());
    call.setLong(3, request.bytes());
    call.setLong(4, request.lease().toMillis());
    call.setArray(5, connection.createArrayOf("int4", request.routes().toArray()));
    ClaimCursor after = request.after();
    if (after == null) {
      call.setNull(6, Types.INTEGER);
      call.setNull(7, Types.SMALLINT);
      call.setNull(8, Types.OTHER, "uuid");
    } else {
      call.setInt(6, after.route());
      call.setShort(7, after.lane());
      call.setObject(8, after.id());
    }
    call.setBoolean(9, request.reap());
  }

  private static Claimed claimed(ResultSet row, IntFunction<Route> routes) throws SQLException {
    int route = row.getInt(8);
    @Nullable String contentType = row.getString(16);
    Message message =
        new Message(
            row.getObject(1, UUID.class),
            routes.apply(route),
            row.getString(14),
            row.getLong(7),
            row.getString(15),
            row.getString(10),
            row.getString(11),
            row.getString(12),
            row.getString(13),
            contentType == null ? Message.JSON : contentType,
            Json.read(row.getString(17)),
            row.getBytes(18),
            instant(row, 9),
            row.getInt(4),
            row.getInt(5),
            row.getLong(2));
    return new Claimed(message, route, row.getShort(3), row.getLong(6), row.getString(19));
  }

  private static Instant instant(ResultSet row, int column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }
}

package dev.postrider.internal.claim;

import dev.postrider.internal.protocol.Protocol;
import dev.postrider.internal.text.Json;
import dev.postrider.message.Claimed;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
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
      select id, token, attempt, delivery, key_id, sequence, route, created_at, tenant,
             aggregate_type, aggregate_id, event_type, ordering_key, dedupe_key, content_type,
             headers, payload, tid, lost_leases, cursor, search_us, suspects, more, is_json
        from postrider.claim_from(?, ?, ?, ?, ?, ?::postrider.claim_cursor, ?, ?, false, ?)
      """;

  private final String claim;

  public Claims(Schema schema) {
    this.claim = schema.sql(CLAIM);
  }

  public ClaimResult take(Connection connection, ClaimRequest request, IntFunction<Route> routes)
      throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(claim)) {
      bind(connection, call, request);
      try (ResultSet row = call.executeQuery()) {
        List<Claimed> claimed = new ArrayList<>();
        while (row.next()) {
          @Nullable UUID id = row.getObject(1, UUID.class);
          if (id == null) { // the last row
            return new ClaimResult(
                claimed,
                row.getString(20),
                Duration.ofNanos(1000 * row.getLong(21)),
                row.getBoolean(22),
                row.getBoolean(23));
          }
          claimed.add(claimed(row, id, routes));
        }
        throw new SQLException("a claim ended without its cursor");
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
    call.setString(6, request.from().cursor());
    call.setBoolean(7, request.from().search());
    call.setBoolean(8, request.from().front());
    call.setBoolean(9, request.kind() == ClaimRequest.Kind.SUSPECT);
  }

  private static Claimed claimed(ResultSet row, UUID id, IntFunction<Route> routes)
      throws SQLException {
    int route = row.getInt(7);
    Route name = routes.apply(route);
    @Nullable String contentType = row.getString(15);
    Message message =
        new Message(
            id,
            name,
            row.getString(13),
            row.getLong(6),
            row.getString(14),
            row.getString(9),
            row.getString(10),
            row.getString(11),
            row.getString(12),
            contentType == null ? Message.JSON : contentType,
            row.getBoolean(24),
            Json.read(row.getString(16)),
            row.getBytes(17),
            row.getObject(8, OffsetDateTime.class).toInstant(),
            row.getInt(3),
            row.getInt(4),
            row.getLong(2));
    long key = row.getLong(5);
    long queueKey = key == 0 || name.subscription().isEmpty() ? key : Protocol.key(key, route);
    return new Claimed(message, route, queueKey, row.getInt(19), row.getString(18));
  }
}

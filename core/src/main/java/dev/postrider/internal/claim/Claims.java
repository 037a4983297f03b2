package dev.postrider.internal.claim;

import dev.postrider.internal.protocol.Claimed;
import dev.postrider.internal.protocol.Protocol;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Takes due messages under a lease. Thread-safe; the connection is the caller's. */
public final class Claims {
  private static final String CLAIM =
      """
      select %s,
             route, key_id, tid, lost_leases, cursor, search_us, suspects, more
        from postrider.claim_from(?, ?, ?, ?, ?, ?::postrider.claim_cursor, ?, ?, false, ?)
      """
          .formatted(MessageRow.COLUMNS);

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
          if (row.getString("id") == null) { // the last row
            return new ClaimResult(
                claimed,
                row.getString("cursor"),
                Duration.ofNanos(1000 * row.getLong("search_us")),
                row.getBoolean("suspects"),
                row.getBoolean("more"));
          }
          claimed.add(claimed(row, routes));
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

  private static Claimed claimed(ResultSet row, IntFunction<Route> routes) throws SQLException {
    int route = row.getInt("route");
    Route name = routes.apply(route);
    long key = row.getLong("key_id");
    long queueKey = key == 0 || name.subscription().isEmpty() ? key : Protocol.key(key, route);
    return new Claimed(
        MessageRow.read(row, name),
        route,
        queueKey,
        row.getInt("lost_leases"),
        row.getString("tid"));
  }
}

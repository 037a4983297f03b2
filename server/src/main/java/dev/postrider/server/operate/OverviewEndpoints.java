package dev.postrider.server.operate;

import dev.postrider.access.Permission;
import dev.postrider.observe.Backlog;
import dev.postrider.observe.Workers;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Paging;
import dev.postrider.store.AuditLog;
import dev.postrider.store.Pauses;
import dev.postrider.store.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What waits, who carries, who did what. */
final class OverviewEndpoints {
  private final DataSource dataSource;
  private final Schema schema;
  private final Workers workers;
  private final Pauses pauses;
  private final AuditLog audit;

  OverviewEndpoints(DataSource dataSource, Schema schema) {
    this.dataSource = dataSource;
    this.schema = schema;
    this.workers = new Workers(dataSource, schema);
    this.pauses = new Pauses(dataSource, schema);
    this.audit = new AuditLog(dataSource, schema);
  }

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/status", Permission.READ)
            .about("overview", "What waits by topic, what is dead, who carries, what is paused")
            .handledBy(call -> status()),
        Endpoint.get("/v1/relays", Permission.READ)
            .about("overview", "Relays that have not said that they stopped")
            .handledBy(call -> Map.of("items", workers.relays())),
        Endpoint.get("/v1/leases", Permission.READ)
            .about("overview", "Claims that are not settled, the oldest first")
            .query(Paging.cursor(Kind.INTEGER).between(0, Long.MAX_VALUE), Paging.LIMIT)
            .handledBy(this::leases),
        Endpoint.get("/v1/audit", Permission.READ)
            .about("overview", "What operators did, the newest first")
            .query(Paging.cursor(Kind.INTEGER).between(0, Long.MAX_VALUE), Paging.LIMIT)
            .handledBy(this::audit));
  }

  private Object status() throws SQLException {
    Backlog backlog;
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(true);
      backlog = Backlog.read(connection, schema);
    }
    Map<String, Object> status = new LinkedHashMap<>();
    status.put("pending", backlog.pending());
    status.put("pending_estimated", backlog.pendingEstimated());
    status.put("oldest_age_seconds", backlog.oldestAge());
    status.put("processing", backlog.processing());
    status.put("stuck", backlog.stuck());
    status.put("dead", backlog.dead());
    status.put("dead_estimated", backlog.deadEstimated());
    status.put("blocked_keys", backlog.blockedKeys());
    status.put("blocked_keys_at_least", backlog.blockedKeysAtLeast());
    status.put("topics", backlog.topics());
    status.put("relays", workers.relays());
    status.put("paused", pauses.list());
    return status;
  }

  private Object leases(Call call) throws SQLException {
    @Nullable Long after = call.query().number("cursor");
    int limit = Paging.limit(call.query());
    List<Workers.Lease> page = workers.leases(after == null ? 0 : after, limit);
    return Paging.page(page, page.size() < limit ? null : page.get(limit - 1).token());
  }

  private Object audit(Call call) throws SQLException {
    int limit = Paging.limit(call.query());
    List<AuditLog.Entry> page = audit.list(call.query().number("cursor"), limit);
    return Paging.page(page, page.size() < limit ? null : page.get(limit - 1).id());
  }
}

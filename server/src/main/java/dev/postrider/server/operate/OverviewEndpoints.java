package dev.postrider.server.operate;

import dev.postrider.access.Permission;
import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.internal.monitor.AuditFilter;
import dev.postrider.internal.monitor.AuditLog;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.monitor.LiveRelay;
import dev.postrider.internal.monitor.Workers;
import dev.postrider.internal.retention.RetentionState;
import dev.postrider.observe.Backlog;
import dev.postrider.operations.Pauses;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Listing;
import dev.postrider.server.api.Paging;
import dev.postrider.server.api.Values;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What waits, who carries, who did what. */
final class OverviewEndpoints {
  private final DataSource dataSource;
  private final Schema schema;
  private final Fleet fleet;
  private final Workers workers;
  private final Pauses pauses;
  private final BlockedKeys keys;
  private final AuditLog audit;

  OverviewEndpoints(DataSource dataSource, Schema schema) {
    this.dataSource = dataSource;
    this.schema = schema;
    this.fleet = new Fleet(dataSource, schema);
    this.workers = new Workers(dataSource, schema);
    this.pauses = new Pauses(dataSource, schema);
    this.keys = new BlockedKeys(dataSource, schema);
    this.audit = new AuditLog(dataSource, schema);
  }

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/status", Permission.READ)
            .about(
                "overview",
                "What waits by topic, what is dead, relays, topics without a route, what is paused;"
                    + " the 100 topics with most of it")
            .answers(Status.class)
            .handledBy(call -> status()),
        Endpoint.get("/v1/relays", Permission.READ)
            .about("overview", "Relays that have not stopped, with what they serve, 100 at most")
            .answersList(LiveRelay.class)
            .handledBy(call -> Listing.of(fleet.read().relays())),
        Endpoint.get("/v1/leases", Permission.READ)
            .about("overview", "Claims that are not settled, the oldest first")
            .query(Paging.cursor(Kind.INTEGER).between(0, Long.MAX_VALUE), Paging.LIMIT)
            .answersPage(Workers.Lease.class, Long.class)
            .handledBy(this::leases),
        Endpoint.get("/v1/retention", Permission.READ)
            .about("overview", "What relays removed because it was past its retention, by task")
            .answersList(RetentionState.class)
            .handledBy(call -> Listing.of(RetentionState.list(dataSource, schema))),
        Endpoint.get("/v1/audit", Permission.READ)
            .about("overview", "What operators did, the newest first")
            .query(
                Paging.cursor(Kind.INTEGER).between(0, Long.MAX_VALUE),
                Paging.LIMIT,
                Field.text("actor", "Only by this one, as entries name it"),
                Field.text("action", "Only of this kind, such as dead.requeue"),
                Field.of("from", Kind.TIME, "At this time or later"),
                Field.of("to", Kind.TIME, "Before this time"))
            .answersPage(AuditLog.Entry.class, Long.class)
            .handledBy(this::audit));
  }

  private Status status() throws SQLException {
    Backlog backlog;
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(true);
      backlog = Backlog.read(connection, schema);
    }
    return Status.of(backlog, Status.blocked(backlog, keys), fleet.read(), pauses.list());
  }

  private Object leases(Call call) throws SQLException {
    @Nullable Long after = call.query().number("cursor");
    int limit = Paging.limit(call.query());
    List<Workers.Lease> page = workers.leases(after == null ? 0 : after, limit);
    return Paging.page(page, page.size() < limit ? null : page.get(limit - 1).token());
  }

  private Object audit(Call call) throws SQLException {
    int limit = Paging.limit(call.query());
    Values query = call.query();
    AuditFilter filter =
        new AuditFilter(
            query.text("actor"), query.text("action"), query.time("from"), query.time("to"));
    List<AuditLog.Entry> page = audit.list(filter, query.number("cursor"), limit);
    return Paging.page(page, page.size() < limit ? null : page.get(limit - 1).id());
  }
}

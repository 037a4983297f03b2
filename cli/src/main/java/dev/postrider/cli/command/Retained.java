package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.internal.retention.RetentionState;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** What relays did for the retention, as JSON. */
final class Retained {
  private Retained() {}

  static List<Map<String, Object>> json(Context context) throws SQLException {
    return RetentionState.list(context.dataSource(), context.schema()).stream()
        .map(Retained::json)
        .toList();
  }

  private static Map<String, Object> json(RetentionState state) {
    return new Fields()
        .with("task", state.task())
        .with("period_seconds", state.period())
        .with("started_at", state.startedAt())
        .with("finished_at", state.finishedAt())
        .with("failed_at", state.failedAt())
        .with("error", state.error())
        .with("last_removed", state.lastRemoved())
        .with("removed", state.removed())
        .map();
  }
}

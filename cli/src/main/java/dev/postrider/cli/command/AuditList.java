package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.internal.monitor.AuditFilter;
import dev.postrider.internal.monitor.AuditLog;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Lists the audit log. */
abstract class AuditList extends PostriderCommand {
  private static final int DETAIL_MAX = 120;

  @Option(names = "--by", paramLabel = "NAME", description = "What this actor did.")
  @Nullable String by;

  @Option(
      names = "--action",
      paramLabel = "TEXT",
      description = "Only this action, for example dead.requeue.")
  @Nullable String action;

  @Option(
      names = "--from",
      paramLabel = "TIME",
      description = "Start time: 2026-11-01T00:00:00Z, or an age such as 2h.")
  @Nullable String from;

  @Option(names = "--to", paramLabel = "TIME", description = "Before this time.")
  @Nullable String to;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Maximum number of entries; 50 by default.")
  int limit = 50;

  @Option(
      names = "--before",
      paramLabel = "ID",
      description = "Show entries before this one, for the next page.")
  @Nullable Long before;

  @Override
  int run(Context context) throws Exception {
    AuditFilter filter = new AuditFilter(by, action, time("--from", from), time("--to", to));
    List<AuditLog.Entry> entries =
        new AuditLog(context.dataSource(), context.schema()).list(filter, before, limit);
    if (context.json()) {
      screen()
          .json(new Fields().with("entries", entries.stream().map(AuditList::json).toList()).map());
      return ExitCode.OK;
    }
    Table table = new Table("id", "at", "actor", "action", "count", "detail");
    for (AuditLog.Entry entry : entries) {
      table.row(
          entry.id(),
          Words.time(entry.at()),
          entry.actor(),
          entry.action(),
          entry.count() == null ? "" : Words.count(entry.count()),
          Words.cut(entry.detail(), DETAIL_MAX));
    }
    if (table.isEmpty()) {
      screen().line("No entries.");
    } else {
      screen().table(table);
    }
    if (entries.size() == limit) {
      screen().note("more: --before " + entries.get(limit - 1).id());
    }
    return ExitCode.OK;
  }

  private @Nullable Instant time(String option, @Nullable String text) {
    return text == null ? null : Options.time(this, option, text);
  }

  private static Map<String, Object> json(AuditLog.Entry entry) {
    return new Fields()
        .with("id", entry.id())
        .with("at", entry.at())
        .with("actor", entry.actor())
        .with("login", entry.login())
        .with("action", entry.action())
        .with("detail", entry.detail())
        .with("count", entry.count())
        .map();
  }
}

package dev.postrider.cli.command;

import dev.postrider.cli.output.Colour;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.deadletter.BlockedKey;
import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.monitor.LiveRelay;
import dev.postrider.observe.Backlog;
import dev.postrider.operations.Pauses;
import java.sql.Connection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** What waits, who carries, what is paused. */
@Command(
    name = "status",
    description =
        "What waits by topic, what is dead, blocked keys, which relays live, what is paused.",
    footer = "  ./postrider status --json")
final class StatusCommand extends PostriderCommand {
  private static final int TOPICS_MAX = 50;
  private static final int KEYS_MAX = 5;

  @Override
  int run(Context context) throws Exception {
    Backlog backlog;
    try (Connection connection = context.dataSource().getConnection()) {
      backlog = Backlog.read(connection, context.schema());
    }
    Fleet.State fleet = new Fleet(context.dataSource(), context.schema()).read();
    List<Pauses.Pause> pauses = new Pauses(context.dataSource(), context.schema()).list();
    List<BlockedKey> blocked =
        backlog.blockedKeys() == 0
            ? List.of()
            : new BlockedKeys(context.dataSource(), context.schema()).list(null, KEYS_MAX);
    if (context.json()) {
      Fields fields = json(backlog, blocked, fleet, pauses);
      screen().json(fields.with("retention", Retained.json(context)).map());
    } else {
      summary(backlog);
      topics(backlog);
      blocked(backlog, blocked);
      relays(fleet.relays());
      new FleetTables(screen()).show(fleet);
      pauses(pauses);
    }
    return ExitCode.OK;
  }

  private void summary(Backlog backlog) {
    String oldest =
        backlog.oldestAge().isZero() ? "" : ", oldest " + Words.age(backlog.oldestAge());
    String pending = Words.count(backlog.pending(), backlog.pendingEstimated());
    String dead = Words.count(backlog.dead(), backlog.deadEstimated()) + " dead";
    String stuck =
        backlog.stuck() == 0 ? "" : ", " + Words.count(backlog.stuck()) + " past their lease";
    boolean blocked = backlog.blockedKeys() > 0;
    screen()
        .line(
            "%s pending%s, %s in flight%s, "
                .formatted(pending, oldest, Words.count(backlog.processing()), stuck),
            backlog.dead() == 0 ? dead : screen().paint(Colour.BAD, dead),
            blocked ? ", " : "",
            screen().paint(Colour.BAD, blocked ? Words.blockedKeys(backlog) : ""));
  }

  private void topics(Backlog backlog) {
    Table table = new Table("topic", "pending", "oldest", "dead");
    backlog.topics().stream()
        .filter(topic -> topic.pending() > 0 || topic.dead() > 0)
        .sorted(Comparator.comparing(Backlog.Topic::oldestAge).reversed())
        .limit(TOPICS_MAX)
        .forEach(
            topic ->
                table.row(
                    topic.route(),
                    Words.count(topic.pending(), topic.estimated()),
                    topic.oldestAge().isZero() ? "" : Words.age(topic.oldestAge()),
                    topic.dead() == 0 ? "" : Words.count(topic.dead(), topic.deadEstimated())));
    show(table);
    if (backlog.topics().size() > TOPICS_MAX) {
      screen().line("… and " + (backlog.topics().size() - TOPICS_MAX) + " more topics");
    }
  }

  private void blocked(Backlog backlog, List<BlockedKey> keys) {
    Table table =
        new Table("blocked key", "topic", "for", "behind", "code")
            .whole("blocked key")
            .optional("topic");
    for (BlockedKey key : keys) {
      table.row(
          Colour.BAD,
          key.namespace() + " " + key.key(),
          key.route().topic(),
          Words.age(key.blockedFor()),
          KeyList.followers(key),
          key.code());
    }
    show(table);
    if (backlog.blockedKeys() > keys.size()) {
      screen().line("… of " + Words.blockedKeys(backlog) + ": ./postrider keys list");
    }
  }

  private void relays(List<LiveRelay> relays) {
    Table table = new Table("relay", "version", "seen", "in flight", "leases", "");
    for (LiveRelay relay : relays) {
      table.row(
          relay.lost() ? Colour.NOTE : null,
          relay.name(),
          relay.version() == null ? "" : relay.version(),
          Words.age(relay.sinceSeen()) + " ago",
          Words.count(relay.inFlight()),
          Words.count(relay.leases()),
          relay.lost() ? "lost" : "");
    }
    show(table);
    if (relays.isEmpty()) {
      screen().text("\nNo relay runs.");
    }
  }

  private void pauses(List<Pauses.Pause> pauses) {
    Table table = new Table("paused", "name", "by", "since");
    for (Pauses.Pause pause : pauses) {
      table.row(
          Colour.NOTE,
          Words.lower(pause.kind()),
          pause.name(),
          pause.pausedBy(),
          Words.time(pause.pausedAt()));
    }
    show(table);
  }

  private void show(Table table) {
    if (!table.isEmpty()) {
      screen().line("");
      screen().table(table);
    }
  }

  private static Fields json(
      Backlog backlog, List<BlockedKey> blocked, Fleet.State fleet, List<Pauses.Pause> pauses) {
    return new Fields()
        .with("pending", backlog.pending())
        .with("pending_estimated", backlog.pendingEstimated())
        .with("oldest_age_seconds", backlog.oldestAge())
        .with("processing", backlog.processing())
        .with("stuck", backlog.stuck())
        .with("dead", backlog.dead())
        .with("dead_estimated", backlog.deadEstimated())
        .with("blocked_keys", backlog.blockedKeys())
        .with("blocked_keys_at_least", backlog.blockedKeysAtLeast())
        .with("blocked", blocked.stream().map(KeyList::json).toList())
        .with("topics", backlog.topics().stream().map(StatusCommand::json).toList())
        .with("relays", fleet.relays().stream().map(FleetTables::json).toList())
        .with("unrouted", fleet.unrouted().stream().map(FleetTables::json).toList())
        .with("paused", pauses.stream().map(StatusCommand::json).toList());
  }

  private static Map<String, Object> json(Backlog.Topic topic) {
    return new Fields()
        .with("namespace", topic.route().namespace())
        .with("topic", topic.route().topic())
        .with("pending", topic.pending())
        .with("estimated", topic.estimated())
        .with("oldest_age_seconds", topic.oldestAge())
        .with("dead", topic.dead())
        .map();
  }

  private static Map<String, Object> json(Pauses.Pause pause) {
    return new Fields()
        .with("kind", pause.kind())
        .with("name", pause.name())
        .with("paused_by", pause.pausedBy())
        .with("paused_at", pause.pausedAt())
        .map();
  }
}

package dev.postrider.cli.command;

import dev.postrider.cli.settings.Settings;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Options that every command has. Filled by picocli. */
final class GlobalOptions {
  @Option(
      names = "--config",
      paramLabel = "FILE",
      scope = ScopeType.INHERIT,
      description = "Configuration file. Default: POSTRIDER_CONFIG, then postrider.yaml.")
  @Nullable Path config;

  @Option(
      names = "--url",
      paramLabel = "URL",
      scope = ScopeType.INHERIT,
      description = "Database: jdbc:postgresql://host/db or postgresql://user@host/db.")
  @Nullable String url;

  @Option(
      names = "--user",
      paramLabel = "NAME",
      scope = ScopeType.INHERIT,
      description = "Database user. Passwords come from the file or POSTRIDER_DATABASE_PASSWORD.")
  @Nullable String user;

  @Option(
      names = "--schema",
      paramLabel = "NAME",
      scope = ScopeType.INHERIT,
      description = "Database schema of the outbox; postrider by default.")
  @Nullable String schema;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      scope = ScopeType.INHERIT,
      description = "Any setting, such as --set relay.lease=30s; see docs/cli.md.")
  Map<String, String> set = new LinkedHashMap<>();

  @Option(
      names = "--actor",
      paramLabel = "NAME",
      scope = ScopeType.INHERIT,
      description = "Your name for the audit; your login name by default.")
  @Nullable String actor;

  @Option(names = "--json", scope = ScopeType.INHERIT, description = "Print JSON, for scripts.")
  boolean json;

  @Option(
      names = {"-v", "--verbose"},
      scope = ScopeType.INHERIT,
      description = "Log more, and show stack traces.")
  boolean verbose;

  String actor() {
    return actor == null ? System.getProperty("user.name", "unknown") : actor;
  }

  /** What was given here, by the path of the setting that it stands for. */
  Map<String, Settings.Flag> flags() {
    Map<String, Settings.Flag> flags = new LinkedHashMap<>();
    set.forEach(
        (key, value) -> {
          String path = key.startsWith(Settings.ROOT + ".") ? key : Settings.ROOT + "." + key;
          flags.put(path, new Settings.Flag(value, "--set " + key));
        });
    put(flags, "database.url", "--url", url);
    put(flags, "database.user", "--user", user);
    put(flags, "schema", "--schema", schema);
    return flags;
  }

  private static void put(
      Map<String, Settings.Flag> flags, String key, String flag, @Nullable String value) {
    if (value != null) {
      flags.put(Settings.ROOT + "." + key, new Settings.Flag(value, flag));
    }
  }
}

package dev.postrider.cli.config;

import dev.postrider.cli.settings.Section;
import dev.postrider.cli.settings.Settings;
import dev.postrider.message.PostriderException;
import dev.postrider.relay.RelayConfig;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.schema.Schema;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the configuration, and finds everything that is wrong with it. */
public final class ConfigReader {
  private static final List<String> URL_STARTS =
      List.of("jdbc:postgresql:", "postgresql://", "postgres://");

  private ConfigReader() {}

  /** All of it. Fails with all problems at once. */
  public static Config read(Settings settings) {
    return read(settings, ConfigPart.all());
  }

  /** Only the database and these parts; the others are neither checked nor read. */
  public static Config read(Settings settings, Set<ConfigPart> parts) {
    Set<String> left = ConfigPart.keys(ConfigPart.all());
    left.removeAll(ConfigPart.keys(parts)); // a key may belong to several parts
    left.forEach(settings::leaveOut);
    Config config;
    try (Section root = settings.root()) {
      DatabaseConfig database = database(root);
      Schema schema = schema(root);
      RelayConfig relay;
      MonitorSettings monitor;
      try (Section section = root.section("relay")) {
        relay = relay(section);
        monitor = MonitorSettings.read(section);
      }
      ArchiveSettings archive = ArchiveSettings.read(root);
      RetentionConfig retention = RetentionSettings.read(root, archive);
      ServerSettings server = ServerSettings.read(root);
      List<DestinationConfig> destinations = DestinationSettings.read(root);
      List<RouteConfig> routes = Routes.read(root, destinations);
      config =
          new Config(
              database, schema, relay, monitor, archive, retention, server, destinations, routes);
    }
    settings.finish();
    return config;
  }

  private static DatabaseConfig database(Section root) {
    try (Section section = root.section("database")) {
      return new DatabaseConfig(
          url(section, "url"),
          section.text("user"),
          section.secret("password"),
          url(section, "direct-url"));
    }
  }

  private static @Nullable String url(Section section, String key) {
    @Nullable String url = section.url(key);
    if (url != null && URL_STARTS.stream().noneMatch(url::startsWith)) {
      section.problem(
          key, "expected jdbc:postgresql://host:port/database or postgresql://host:port/database");
    }
    return url;
  }

  private static Schema schema(Section root) {
    String name = root.text("schema", Schema.DEFAULT.name());
    try {
      return new Schema(name);
    } catch (PostriderException e) {
      root.problem("schema", String.valueOf(e.getMessage()));
      return Schema.DEFAULT;
    }
  }

  private static RelayConfig relay(Section section) {
    RelayConfig usual = RelayConfig.defaults();
    Duration minute = Duration.ofMinutes(1);
    return new RelayConfig(
        name(section, usual.name()),
        section.number("batch-size", usual.batchSize(), 1, 10_000),
        section.number("carriers", usual.carriers(), 1, 64),
        section.duration("poll-interval", usual.pollInterval(), Duration.ofMillis(10), minute),
        section.duration("lease", usual.lease(), Duration.ofSeconds(1), Duration.ofHours(1)),
        section.duration("reap-interval", usual.reapInterval(), Duration.ofMillis(100), minute),
        section.duration(
            "statement-timeout",
            usual.statementTimeout(),
            Duration.ofMillis(100),
            Duration.ofMinutes(10)),
        section.duration(
            "shutdown-timeout", usual.shutdownTimeout(), Duration.ZERO, Duration.ofMinutes(10)),
        section.flag("listen", usual.listen()),
        section.number("partitions-ahead", usual.partitionsAhead(), 1, 90));
  }

  private static String name(Section section, String usual) {
    String name = section.text("name", usual);
    if (name.isBlank() || name.length() > 200) {
      section.problem("name", "expected 1 to 200 characters, got " + name.length());
      return usual;
    }
    return name;
  }
}

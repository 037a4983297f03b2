package dev.postrider.cli.command;

import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.ConfigPart;
import dev.postrider.cli.config.ConfigReader;
import dev.postrider.cli.config.DatabaseConfig;
import dev.postrider.cli.output.Screen;
import dev.postrider.cli.settings.Masks;
import dev.postrider.cli.settings.Origin;
import dev.postrider.cli.settings.Settings;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What commands share: options, configuration, database, screen. Used by one thread. */
final class Context {
  /** Longer than the limit of any statement of an operator's, so that the server gives up first. */
  private static final Duration SILENCE = Duration.ofSeconds(90);

  private static final String NO_DATABASE =
      """
      no database is configured, and no ./postrider up runs here
      Give --url, POSTRIDER_DATABASE_URL or postrider.database.url in postrider.yaml, or start one: \
      ./postrider up""";

  private final GlobalOptions options;
  private final Map<String, String> environment;
  private final Screen screen;
  private @Nullable Config config;
  private @Nullable Config database;
  private List<Settings.Effective> effective = List.of();

  Context(GlobalOptions options, Map<String, String> environment, Screen screen) {
    this.options = options;
    this.environment = environment;
    this.screen = screen;
  }

  Screen screen() {
    return screen;
  }

  GlobalOptions options() {
    return options;
  }

  boolean json() {
    return options.json;
  }

  String actor() {
    return options.actor();
  }

  /** The whole configuration. */
  Config config() {
    return config(Map.of(), ConfigPart.all());
  }

  /** The parts that a command uses, with what its own flags set. */
  Config config(Map<String, Settings.Flag> more, Set<ConfigPart> parts) {
    if (config == null) {
      config = read(more, parts);
    }
    return config;
  }

  /** What was read already, else the database alone: most commands use nothing else. */
  private Config known() {
    if (config != null) {
      return config;
    }
    if (database == null) {
      database = read(Map.of(), ConfigPart.of());
    }
    return database;
  }

  private Config read(Map<String, Settings.Flag> more, Set<ConfigPart> parts) {
    Map<String, Settings.Flag> flags = new LinkedHashMap<>(options.flags());
    flags.putAll(more);
    Settings settings = Settings.of(flags, environment, file());
    Config read = ConfigReader.read(settings, parts);
    effective = settings.effective();
    settings.warnings().forEach(warning -> screen.note("warning: " + warning));
    return read;
  }

  DatabaseConfig database() {
    return known().database();
  }

  /** Every setting, the database of a running {@code up} included. */
  List<Settings.Effective> effective() throws IOException {
    if (config().database().url() != null) {
      return effective;
    }
    Optional<UpFile.Running> up = UpFile.here().read();
    return effective.stream()
        .map(setting -> up.isPresent() ? found(setting, up.get()) : setting)
        .toList();
  }

  private static Settings.Effective found(Settings.Effective setting, UpFile.Running up) {
    return setting.path().equals("postrider.database.url")
        ? new Settings.Effective(
            setting.path(), Masks.url(up.jdbcUrl()), new Origin(UpFile.here().toString()))
        : setting;
  }

  private @Nullable Path file() {
    String named = environment.getOrDefault("POSTRIDER_CONFIG", "");
    Path usual = Path.of("postrider.yaml");
    if (options.config != null || !named.isBlank()) {
      Path given = options.config != null ? options.config : Path.of(named);
      if (!Files.isRegularFile(given)) {
        throw new Failure(ExitCode.USAGE, "the configuration file " + given + " does not exist");
      }
      return given;
    }
    return Files.isRegularFile(usual) ? usual : null;
  }

  Schema schema() {
    return known().schema();
  }

  /** Whether one is configured, or an {@code up} runs here. */
  boolean hasDatabase() throws IOException {
    return database().url() != null || UpFile.here().read().isPresent();
  }

  /** The database's URL: the configured one, or that of the {@code up} that runs here. */
  String url() {
    @Nullable String configured = database().url();
    if (configured != null) {
      return configured;
    }
    try {
      return UpFile.here().read().map(UpFile.Running::jdbcUrl).orElseThrow(Context::noDatabase);
    } catch (IOException e) {
      throw new Failure(ExitCode.TROUBLE, UpFile.here() + " cannot be used: " + e.getMessage());
    }
  }

  private static Failure noDatabase() {
    return new Failure(ExitCode.USAGE, NO_DATABASE);
  }

  /** The database as it may be shown. */
  Optional<String> shownUrl() {
    return config == null && database == null ? Optional.empty() : Optional.of(Masks.url(url()));
  }

  DataSource dataSource() {
    return dataSource(SILENCE);
  }

  DataSource dataSource(Duration silence) {
    return Connections.to(url(), database(), "postrider", silence);
  }

  /** For LISTEN; the same database, around a pooler. */
  DataSource direct() {
    @Nullable String url = database().directUrl();
    return Connections.to(url == null ? url() : url, database(), "postrider", SILENCE);
  }

  /** Refuses to start what would try for ever. */
  void requireSchema() throws SQLException {
    List<String> pending = new Migrations(schema()).pending(dataSource());
    if (!pending.isEmpty()) {
      throw new Failure(
          ExitCode.NOT_MIGRATED,
          "the schema \"%s\" lacks %s; run: ./postrider migrate"
              .formatted(schema().name(), String.join(", ", pending)));
    }
  }

  /** Goes on only if somebody says so: on the terminal, or beforehand with {@code --yes}. */
  void confirm(boolean yes, String question) throws IOException {
    if (yes) {
      return;
    }
    if (!screen.terminal().asks()) {
      throw new Failure(ExitCode.USAGE, question + "\nNobody is here to ask: give --yes.");
    }
    if (!screen.confirm(question)) {
      throw new Failure(ExitCode.TROUBLE, "nothing was changed");
    }
  }
}

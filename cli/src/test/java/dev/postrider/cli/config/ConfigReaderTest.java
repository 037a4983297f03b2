package dev.postrider.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.postrider.cli.settings.SettingProblem;
import dev.postrider.cli.settings.Settings;
import dev.postrider.cli.settings.Settings.Effective;
import dev.postrider.cli.settings.Settings.Flag;
import dev.postrider.cli.settings.SettingsException;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("HE-13")
class ConfigReaderTest {
  private static final String FULL =
      """
      postrider:
        database:
          url: jdbc:postgresql://db/shop
          user: relay
          password: s3cret
        schema: outbox
        relay:
          batch-size: 200
          poll-interval: 1s
          lease: 2m
          listen: false
        retry:
          max-attempts: 5
          backoff-base: 1s
        destinations:
          rail:
            type: log
            concurrency: 16
            max-bytes-in-flight: 4MiB
            breaker:
              failures: 3
        routes:
          - namespace: payments
            topic: instructions
            destination: rail
            retry:
              max-attempts: 20
              on-dead: block
          - namespace: payments
            destination: rail
      """;

  @TempDir Path folder;

  private Settings settings(String yaml, Map<String, String> environment, Map<String, Flag> flags)
      throws IOException {
    Path file = folder.resolve("postrider.yaml");
    Files.writeString(file, yaml);
    return Settings.of(flags, environment, file);
  }

  private Config read(String yaml) throws IOException {
    return ConfigReader.read(settings(yaml, Map.of(), Map.of()));
  }

  private List<String> problems(String yaml, Map<String, String> environment) throws IOException {
    Settings settings = settings(yaml, environment, Map.of());
    SettingsException error =
        catchThrowableOfType(SettingsException.class, () -> ConfigReader.read(settings));
    assertThat(error).as("the configuration is refused").isNotNull();
    return error.problems().stream()
        .map(SettingProblem::toString)
        .map(text -> text.replace(folder + "/", ""))
        .toList();
  }

  @Test
  void readsEverythingFromAFile() throws Exception {
    Config config = read(FULL);
    assertThat(config.database().url()).isEqualTo("jdbc:postgresql://db/shop");
    assertThat(config.database().password()).isEqualTo("s3cret");
    assertThat(config.schema().name()).isEqualTo("outbox");
    assertThat(config.relay().batchSize()).isEqualTo(200);
    assertThat(config.relay().pollInterval()).isEqualTo(Duration.ofSeconds(1));
    assertThat(config.relay().lease()).isEqualTo(Duration.ofMinutes(2));
    assertThat(config.relay().listen()).isFalse();
    assertThat(config.relay().carriers()).isEqualTo(2);
    DestinationConfig rail = config.destinations().get(0);
    assertThat(rail.name()).isEqualTo("rail");
    assertThat(rail.options().concurrency()).isEqualTo(16);
    assertThat(rail.options().maxBytesInFlight()).isEqualTo(4 << 20);
    assertThat(rail.options().breaker().failures()).isEqualTo(3);
    assertThat(config.routes()).hasSize(2);
    RouteConfig own = config.routes().get(0);
    assertThat(own.retry().maxAttempts()).isEqualTo(20);
    assertThat(own.retry().onDead()).isEqualTo(DeadPolicy.BLOCK);
    assertThat(own.retry().backoff().base()).isEqualTo(Duration.ofSeconds(1));
    RouteConfig usual = config.routes().get(1);
    assertThat(usual.topic()).isEqualTo("*");
    assertThat(usual.retry().maxAttempts()).isEqualTo(5);
    assertThat(usual.retry().onDead()).isEqualTo(DeadPolicy.SKIP);
  }

  @Test
  void flagsBeatTheEnvironmentWhichBeatsTheFile() throws Exception {
    Map<String, String> environment =
        Map.of(
            "POSTRIDER_RELAY_BATCH_SIZE", "300",
            "POSTRIDER_RELAY_LEASE", "3m",
            "POSTRIDER_DESTINATIONS_RAIL_CONCURRENCY", "8",
            "POSTRIDER_ROUTES_0_RETRY_MAX_ATTEMPTS", "7");
    Map<String, Flag> flags = Map.of("postrider.relay.lease", new Flag("4m", "--lease"));
    Settings settings = settings(FULL, environment, flags);
    Config config = ConfigReader.read(settings);

    assertThat(config.relay().pollInterval()).isEqualTo(Duration.ofSeconds(1));
    assertThat(config.relay().batchSize()).isEqualTo(300);
    assertThat(config.relay().lease()).isEqualTo(Duration.ofMinutes(4));
    assertThat(config.destinations().get(0).options().concurrency()).isEqualTo(8);
    assertThat(config.routes().get(0).retry().maxAttempts()).isEqualTo(7);
    assertThat(sourceOf(settings, "postrider.relay.lease")).isEqualTo("--lease");
    assertThat(sourceOf(settings, "postrider.relay.batch-size"))
        .isEqualTo("POSTRIDER_RELAY_BATCH_SIZE");
    assertThat(sourceOf(settings, "postrider.relay.poll-interval")).endsWith("postrider.yaml:9");
    assertThat(sourceOf(settings, "postrider.relay.carriers")).isEqualTo("default");
  }

  private static String sourceOf(Settings settings, String path) {
    return settings.effective().stream()
        .filter(setting -> setting.path().equals(path))
        .map(setting -> setting.origin().where())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theEnvironmentAloneIsEnough() {
    Config config =
        ConfigReader.read(
            Settings.of(
                Map.of(),
                Map.of(
                    "POSTRIDER_DATABASE_URL", "postgresql://db/shop",
                    "POSTRIDER_DESTINATIONS_SLOW_RAIL_TYPE", "log",
                    "POSTRIDER_ROUTES_0_NAMESPACE", "shop",
                    "POSTRIDER_ROUTES_0_DESTINATION", "slow-rail"),
                null));
    assertThat(config.destinations())
        .extracting(DestinationConfig::name)
        .containsExactly("slow-rail");
    assertThat(config.routes()).hasSize(1);
  }

  @Test
  void saysEverythingThatIsWrongAtOnceWithItsLine() throws Exception {
    List<String> problems =
        problems(
            """
            postrider:
              database:
                url: mysql://db
              relay:
                batch-size: lots
                lease: 5
                poll-intervall: 1s
              destinations:
                rail:
                  type: lgo
                  timeout: 2h
                bare:
                  concurrency: 1
              routes:
                - namespace: shop
                  topic: order*
                  destination: rails
                - topic: x
                  destination: rail
                  retry:
                    on-dead: maybe
            """,
            Map.of("POSTRIDER_RELAY_CARRIERS", "99", "POSTRIDER_RELAY_LEASES", "1s"));
    assertThat(problems)
        .containsExactlyInAnyOrder(
            "postrider.yaml:3: postrider.database.url: expected jdbc:postgresql://host:port/database"
                + " or postgresql://host:port/database",
            "postrider.yaml:5: postrider.relay.batch-size: expected a whole number from 1 to 10000,"
                + " got \"lots\"",
            "POSTRIDER_RELAY_CARRIERS: postrider.relay.carriers: expected a whole number from 1 to"
                + " 64, got \"99\"",
            "postrider.yaml:6: postrider.relay.lease: expected a duration such as 500ms, 5s, 2m, 1h"
                + " or 7d, got \"5\"",
            "postrider.yaml:7: postrider.relay.poll-intervall: unknown key; did you mean"
                + " \"poll-interval\"?",
            "postrider.yaml:10: postrider.destinations.rail.type: expected one of log, rabbitmq, kafka, webhook, stream, got \"lgo\"",
            "postrider.yaml:11: postrider.destinations.rail.timeout: expected a duration from 1ms to"
                + " 1h, got \"2h\"",
            "postrider.yaml:12: postrider.destinations.bare.type: missing; it is mandatory",
            "postrider.yaml:16: postrider.routes[0].topic: expected a whole name, or * for all, got"
                + " \"order*\"",
            "postrider.yaml:17: postrider.routes[0].destination: there is no destination \"rails\";"
                + " there are bare, rail",
            "postrider.yaml:18: postrider.routes[1].namespace: missing; it is mandatory",
            "postrider.yaml:21: postrider.routes[1].retry.on-dead: expected skip or block, got"
                + " \"maybe\"",
            "POSTRIDER_RELAY_LEASES: unknown variable; did you mean \"POSTRIDER_RELAY_LEASE\"?");
  }

  @Test
  void rulesBetweenSettingsHaveALineToo() throws Exception {
    assertThat(
            problems(
                """
                postrider:
                  retry:
                    backoff-base: 1h
                    backoff-max: 1m
                  destinations:
                    log: {type: log, breaker: {open-min: 5s, open-max: 1s}}
                  routes:
                    - {namespace: a, destination: log}
                    - {namespace: a, topic: "*", destination: log}
                """,
                Map.of()))
        .containsExactlyInAnyOrder(
            "postrider.yaml:4: postrider.retry.backoff-max: expected at least backoff-base",
            "postrider.yaml:6: postrider.destinations.log.breaker.open-max: expected at least"
                + " open-min",
            "postrider.yaml:9: postrider.routes[1].topic: another route serves this namespace and"
                + " topic already; give each route its own subscription if both should get every"
                + " message");
  }

  @Test
  @Tag("EN-23")
  void subscriptionsHaveNamesThatTheDatabaseTakes() throws Exception {
    assertThat(
            problems(
                """
                postrider:
                  destinations:
                    log: {type: log}
                  routes:
                    - {namespace: a, destination: log, subscription: default}
                    - {namespace: a, topic: b, destination: log, subscription: mail}
                    - {namespace: a, topic: b, destination: log, subscription: "no name"}
                """,
                Map.of()))
        .containsExactly(
            "postrider.yaml:7: postrider.routes[2].subscription: expected 1 to 100 letters, digits,"
                + " dots, dashes and underscores, first a letter or digit, got \"no name\"");
  }

  @Test
  void aFileThatIsNotWhatItShouldBeIsRefusedWithItsLine() throws Exception {
    assertThat(problems("postrider:\n  relay: {batch-size: 1\n  x", Map.of()))
        .singleElement()
        .asString()
        .startsWith("postrider.yaml:3: not valid YAML: ");
    assertThat(problems("- a\n", Map.of())).singleElement().asString().contains("expected keys");
    assertThat(problems("postrider:\n  schema: a\n  schema: b\n", Map.of()))
        .containsExactly("postrider.yaml:3: the key \"schema\" is here twice");
    assertThat(problems("database:\n  url: x\n", Map.of()))
        .containsExactly(
            "postrider.yaml:1: database: unknown key; everything stands under \"postrider\"");
    assertThat(problems("postrider:\n  relay: 5\n  routes: x\n  schema: [a]\n", Map.of()))
        .containsExactlyInAnyOrder(
            "postrider.yaml:2: postrider.relay: expected keys and values under it",
            "postrider.yaml:3: postrider.routes: expected a list, each item after a \"- \"",
            "postrider.yaml:4: postrider.schema: expected a single value");
    assertThat(problems("postrider: &a\n  relay: *a\n", Map.of())).isNotEmpty();
  }

  @Test
  @Timeout(20)
  void aFileThatMeansMoreThanMemoryHoldsIsRefused() throws Exception {
    StringBuilder aliases = new StringBuilder("postrider:\n  routes:\n  - &a0 [x]\n");
    for (int i = 1; i < 20; i++) {
      aliases.append("  - &a%1$d [*a%2$d, *a%2$d]\n".formatted(i, i - 1));
    }
    assertThat(problems(aliases.toString(), Map.of()))
        .singleElement()
        .asString()
        .contains("more than 100000 values");
    String deep = "postrider: " + "[".repeat(100_000) + "]".repeat(100_000);
    assertThat(problems(deep, Map.of())).singleElement().asString().contains("nested more than 20");
  }

  @Test
  void theServerIsReadAndCheckedToo() throws Exception {
    Config config =
        read(
            """
            postrider:
              server: {port: 0, tls: {certificates: a.pem, key: b.pem}, host: 0.0.0.0}
            """);
    assertThat(config.server().port()).isZero();
    assertThat(config.server().config().tls()).isNotNull();
    assertThat(
            problems(
                """
                postrider:
                  server:
                    host: 0.0.0.0
                    threads: 4
                    tls:
                      key: b.pem
                      key-store-password: s3cret
                """,
                Map.of()))
        .hasSize(3)
        .contains(
            "postrider.yaml:4: postrider.server.threads: expected a whole number from 8 to 1000,"
                + " got \"4\"",
            "postrider.yaml:5: postrider.server.tls.certificates: missing; they go together")
        .anyMatch(text -> text.startsWith("postrider.yaml:3: postrider.server.host: host 0.0.0.0"))
        .noneMatch(text -> text.contains("s3cret"));
  }

  @Test
  void theArchivesBucketIsReadAndCheckedToo() throws Exception {
    assertThat(read("postrider: {archive: {retention: 9d}}").archive().configured()).isFalse();
    assertThat(read("postrider: {archive: {storage: s3, s3: {bucket: b}}}").archive().configured())
        .isTrue();
    assertThat(
            problems(
                """
                postrider:
                  archive:
                    storage: s3
                    s3:
                      prefix: /a
                      endpoint: http://minio.internal:9000
                      secret-key: s3cret
                      storage-class: cold
                      attempts: 0
                      buckett: b
                """,
                Map.of()))
        .containsExactlyInAnyOrder(
            "postrider.yaml:4: postrider.archive.s3.bucket: missing; it is mandatory with storage:"
                + " s3",
            "postrider.yaml:5: postrider.archive.s3.prefix: expected names between its slashes, none"
                + " of them empty, . or .., such as outbox/shop, got \"/a\"",
            "postrider.yaml:6: postrider.archive.s3.endpoint: expected https unless plain http is"
                + " allowed (allow-plain), got \"http://minio.internal:9000\"",
            "postrider.yaml:4: postrider.archive.s3.access-key: missing; access-key and secret-key go"
                + " together",
            "postrider.yaml:8: postrider.archive.s3.storage-class: expected a name such as"
                + " STANDARD_IA, got \"cold\"",
            "postrider.yaml:9: postrider.archive.s3.attempts: expected a whole number from 1 to 20,"
                + " got \"0\"",
            "postrider.yaml:10: postrider.archive.s3.buckett: unknown key; did you mean"
                + " \"bucket\"?");
    assertThat(problems("postrider: {archive: {s3: {bucket: b}}}", Map.of()))
        .containsExactly(
            "postrider.yaml:1: postrider.archive.storage: missing; expected s3, since s3.bucket is"
                + " given, or directory");
  }

  @Test
  void anUnknownFlagIsRefused() throws Exception {
    Settings settings =
        settings(
            "", Map.of(), Map.of("postrider.relay.leese", new Flag("1s", "--set relay.leese")));
    SettingsException error =
        catchThrowableOfType(SettingsException.class, () -> ConfigReader.read(settings));
    assertThat(error)
        .hasMessageContaining(
            "--set relay.leese: postrider.relay.leese: unknown setting; did you mean"
                + " \"postrider.relay.lease\"?");
  }

  @Test
  void variablesOfOthersAreLeftAlone() throws Exception {
    Map<String, String> environment =
        Map.of(
            "POSTRIDER_SERVICE_HOST", "10.0.0.1",
            "POSTRIDER_PORT", "tcp://10.0.0.1:80",
            "POSTRIDER_PORT_80_TCP_ADDR", "10.0.0.1",
            "POSTRIDER_SERVER_PORT", "tcp://10.0.0.1:7080",
            "POSTRIDER_RELAY_MONITOR_PORT", "tcp://10.0.0.1:7081",
            "POSTRIDER_CONSOLE_SERVICE_PORT_HTTP", "80",
            "POSTRIDER_JAVA_OPTS", "-Xmx1g",
            "POSTRIDER_RELAY_LEASE", " ");
    assertThat(ConfigReader.read(settings("", environment, Map.of())).relay().lease())
        .isEqualTo(Duration.ofMinutes(1));
    Settings own = settings("", Map.of("POSTRIDER_SERVER_PORT", "8080"), Map.of());
    assertThat(ConfigReader.read(own).server().port()).isEqualTo(8080);
    Settings monitor = settings("", Map.of("POSTRIDER_RELAY_MONITOR_PORT", "8081"), Map.of());
    assertThat(ConfigReader.read(monitor).monitor().port()).isEqualTo(8081);
  }

  @Test
  void secretsAreNeverShown() throws Exception {
    Settings settings =
        settings(
            """
            postrider:
              database:
                url: postgresql://relay:s3cret@db/shop?sslpassword=s3cret&x=1
                password: s3cret
            """,
            Map.of(),
            Map.of());
    Config config = ConfigReader.read(settings);
    assertThat(settings.effective())
        .extracting(Effective::value)
        .contains("postgresql://relay:********@db/shop?sslpassword=********&x=1", "********")
        .noneMatch(value -> value.contains("s3cret"));
    assertThat(config.toString()).doesNotContain("s3cret");
    assertThat(problems("postrider: {database: {url: 'mysql://a:s3cret@b'}}", Map.of()).toString())
        .doesNotContain("s3cret");
  }
}

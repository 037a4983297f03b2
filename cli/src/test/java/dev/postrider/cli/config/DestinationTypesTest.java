package dev.postrider.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.postrider.cli.settings.SettingProblem;
import dev.postrider.cli.settings.Settings;
import dev.postrider.cli.settings.Settings.Effective;
import dev.postrider.cli.settings.SettingsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The settings of each kind of destination, and the pages about them. */
@Tag("HE-13")
class DestinationTypesTest {
  private static final String WHSEC = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

  @TempDir Path folder;

  private Settings settings(String yaml, Map<String, String> environment) throws Exception {
    Path file = folder.resolve("postrider.yaml");
    Files.writeString(file, yaml);
    return Settings.of(Map.of(), environment, file);
  }

  private List<String> problems(String yaml, Map<String, String> environment) throws Exception {
    Settings settings = settings(yaml, environment);
    SettingsException error =
        catchThrowableOfType(SettingsException.class, () -> ConfigReader.read(settings));
    assertThat(error).as("the configuration is refused").isNotNull();
    return error.problems().stream()
        .map(SettingProblem::toString)
        .map(text -> text.replace(folder + "/postrider.yaml:", ""))
        .map(text -> text.replace("postrider.destinations.", ""))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"rabbitmq", "kafka", "webhook"})
  void thePageHasEverySettingAndItsExampleIsAccepted(String type) throws Exception {
    Page page = Page.of("destinations/" + type + ".md").section("From the executable");
    Settings settings = settings(page.yaml(), Map.of());
    Config config = ConfigReader.read(settings);
    assertThat(config.destinations().get(0).type()).isEqualTo(type);

    String start = "postrider.destinations." + config.destinations().get(0).name() + ".";
    Set<String> read = new TreeSet<>();
    for (Effective setting : settings.effective()) {
      if (setting.path().startsWith(start)) {
        String key = setting.path().substring(start.length());
        read.add(key.replaceAll("\\[\\d+].*", "").replaceAll("^(properties|headers)\\..*", "$1"));
        assertThat(setting.value()).doesNotContain("from-the-environment", "whsec_", "ScramLogin");
      }
    }
    read.removeIf(key -> key.matches("type|concurrency|timeout|max-.*in-flight|breaker\\..*"));
    Set<String> documented = new TreeSet<>();
    for (MatchResult row : page.find("^\\| (`[a-z][^|]*) \\|")) {
      for (String key : row.group(1).split(", ", -1)) {
        documented.add(key.replace("`", ""));
      }
    }
    assertThat(documented).isEqualTo(read);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rabbitmq", "kafka", "webhook"})
  void theDefaultsOnThePageAreTheOnesInEffect(String type) throws Exception {
    Page page = Page.of("destinations/" + type + ".md").section("From the executable");
    String least =
        Map.of(
                "rabbitmq", "addresses: a, exchange: e",
                "kafka", "bootstrap-servers: 'a:1'",
                "webhook", "url: https://example.com, keys: " + WHSEC)
            .get(type);
    Settings settings =
        settings("postrider: {destinations: {d: {type: %s, %s}}}".formatted(type, least), Map.of());
    ConfigReader.read(settings);
    List<MatchResult> rows =
        page.find("^\\| `([a-z-]+)` \\| `?([0-9{a-z/][^ |`]*)`? \\| [^|]*\\| [^|]*\\|$");
    assertThat(rows).hasSizeGreaterThan(4);
    for (MatchResult row : rows) {
      String documented =
          row.group(2)
              .replaceFirst(
                  "^(16|64)MiB$", Map.of("kafka", "67108864").getOrDefault(type, "16777216"));
      if (!documented.matches("all|guest|/")) { // not a value of the setting itself
        assertThat(settings.effective())
            .filteredOn(s -> s.path().equals("postrider.destinations.d." + row.group(1)))
            .singleElement()
            .extracting(Effective::value)
            .isEqualTo(documented);
      }
    }
  }

  @Test
  @Tag("HE-6")
  void whatIsWrongWithRabbitIsSaidAtItsLine() throws Exception {
    assertThat(
            problems(
                """
                postrider:
                  destinations:
                    mq:
                      type: rabbitmq
                      timeout: 10s
                      user: relay
                      routing-key: "{nothing}"
                      envelope: cloudevents-binary
                      channels: 65
                      tls:
                        trust-store-password: s3cret
                      topology:
                        exchanges:
                          - {name: events, type: topic}
                          - {name: events}
                        queues:
                          - {name: billing, type: fast}
                        bindings:
                          - {queue: biling, exchange: events}
                        dead-letters:
                          - {exchange: event, queues: billing}
                """,
                Map.of()))
        .contains(
            "3: mq.addresses: expected either addresses, such as [mq1:5672, mq2:5672], or uri",
            "3: mq.password: missing; user and password go together",
            "3: mq.exchange: missing; it is mandatory",
            "3: mq.source: missing; CloudEvents need it, such as /shop",
            "9: mq.channels: expected a whole number from 1 to 64, got \"65\"",
            "3: mq.confirm-timeout: expected less than the destination's timeout of 10s, got 20s",
            "10: mq.tls.trust-store: missing; its password is there",
            "15: mq.topology.exchanges[1].name: the exchange \"events\" is here twice",
            "17: mq.topology.queues[0].type: expected classic or quorum, got \"fast\"",
            "19: mq.topology.bindings[0].queue: \"biling\" is not among those of this topology;"
                + " there are billing",
            "21: mq.topology.dead-letters[0].exchange: \"event\" is not among those of this"
                + " topology; there are events")
        .anyMatch(text -> text.startsWith("7: mq.routing-key: template \"{nothing}\": no field"))
        .noneMatch(text -> text.contains("s3cret"));
    assertThat(
            problems(
                "postrider: {destinations: {mq: {type: rabbitmq, uri: 'http://a:s3cret@b',"
                    + " exchange: e}}}",
                Map.of()))
        .singleElement()
        .asString()
        .startsWith("1: mq.uri: RabbitMQ broker: expected a URI as amqp[s]://")
        .doesNotContain("s3cret");
  }

  @Test
  void whatIsWrongWithKafkaIsSaidAtItsLine() throws Exception {
    assertThat(
            problems(
                """
                postrider:
                  destinations:
                    bus:
                      type: kafka
                      bootstrap-servers: [kafka1]
                      delivery-timeout: 30s
                      properties:
                        acks: "1"
                        max.block.ms: 5
                      dead-at-once: [kafka_timeout]
                """,
                Map.of("POSTRIDER_DESTINATIONS_BUS_PROPERTIES_ENABLE_IDEMPOTENCE", "false")))
        .containsExactlyInAnyOrder(
            "6: bus.delivery-timeout: expected less than the destination's timeout of 30s, got 30s",
            "5: bus.bootstrap-servers: expected host:port, got \"kafka1\"",
            "8: bus.properties.acks: expected all, got \"1\"",
            "9: bus.properties.max.block.ms: is not yours to set: use max-block",
            "10: bus.dead-at-once: expected one of [kafka_topic_authorization, kafka_unknown_topic],"
                + " got \"kafka_timeout\"",
            "POSTRIDER_DESTINATIONS_BUS_PROPERTIES_ENABLE_IDEMPOTENCE:"
                + " bus.properties.enable.idempotence: expected true, got \"false\"");
    assertThat(problems("postrider: {destinations: {bus: {type: kafka}}}", Map.of()))
        .containsExactly(
            "1: bus.bootstrap-servers: missing; it is mandatory, such as [kafka1:9092]");
  }

  @Test
  void whatIsWrongWithAWebhookIsSaidAtItsLine() throws Exception {
    assertThat(
            problems(
                """
                postrider:
                  destinations:
                    hook:
                      type: webhook
                      url: http://10.0.0.1/t0k3n
                      keys:
                        - %s
                        - hunter2
                      unsigned: true
                      allow-nets: [10.0.0.0/33]
                      headers:
                        host: elsewhere
                      timeout: 20s
                      connect-timeout: 25s
                """
                    .formatted(WHSEC),
                Map.of()))
        .containsExactlyInAnyOrder(
            "10: hook.allow-nets: expected an address or a range such as 10.1.0.0/16 to allow, got"
                + " 10.0.0.0/33",
            "5: hook.url: expected https, or a host or net that is allowed explicitly, got http",
            "6: hook.keys: expected either keys or unsigned: true, got both",
            "8: hook.keys[1]: expected a key that starts with whsec_ or whsk_, got another start",
            "12: hook.headers.host: expected a header that may be set, got host",
            "3: hook.deadline: expected less than the destination's timeout of 20s, got 20s",
            "14: hook.connect-timeout: expected at most the deadline");
  }

  @Test
  void secretsCanComeFromTheEnvironmentAndAreNeverShown() throws Exception {
    Settings settings =
        settings(
            """
            postrider:
              destinations:
                hook: {type: webhook, url: "https://example.com/t0k3n?x=t0k3n"}
                mq: {type: rabbitmq, uri: "amqp://ann:t0k3n@mq", exchange: e}
                bus: {type: kafka, bootstrap-servers: "a:1,b:2"}
            """,
            Map.of(
                "POSTRIDER_DESTINATIONS_HOOK_KEYS", WHSEC + "," + WHSEC,
                "POSTRIDER_DESTINATIONS_HOOK_HEADERS_AUTHORIZATION", "Bearer t0k3n",
                "POSTRIDER_DESTINATIONS_BUS_PROPERTIES_SSL_KEYSTORE_PASSWORD", "t0k3n"));
    ConfigReader.read(settings);
    Pattern secret = Pattern.compile("t0k3n|" + Pattern.quote(WHSEC));
    assertThat(settings.effective())
        .extracting(Effective::toString)
        .noneMatch(text -> secret.matcher(text).find())
        .anyMatch(text -> text.contains("hook.url, value=https://example.com/********"))
        .anyMatch(text -> text.contains("bus.properties.ssl.keystore.password"))
        .anyMatch(text -> text.contains("hook.headers.authorization"));
  }

  @Test
  void aTopologyCanComeFromTheEnvironment() {
    Config config =
        ConfigReader.read(
            Settings.of(
                Map.of(),
                Map.of(
                    "POSTRIDER_DESTINATIONS_MQ_TYPE", "rabbitmq",
                    "POSTRIDER_DESTINATIONS_MQ_2_TYPE", "log",
                    "POSTRIDER_DESTINATIONS_MQ_URI", "amqp://mq",
                    "POSTRIDER_DESTINATIONS_MQ_EXCHANGE", "e",
                    "POSTRIDER_DESTINATIONS_MQ_TOPOLOGY_EXCHANGES_0_NAME", "e",
                    "POSTRIDER_DESTINATIONS_MQ_TOPOLOGY_EXCHANGES_0_TYPE", "fanout"),
                null));
    assertThat(config.destinations())
        .extracting(DestinationConfig::name)
        .containsExactly("mq", "mq-2");
  }
}

package dev.postrider.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.ConfigReader;
import dev.postrider.cli.settings.Settings;
import dev.postrider.cli.settings.Units;
import dev.postrider.server.ServerConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Dockerfile, compose, units and manifests fit the program: its times, ports and variables. */
@Tag("OP-1")
class DeploymentTest {
  private static final Path ROOT = Path.of("..");
  private static final Path KUBERNETES = ROOT.resolve("deploy/kubernetes");

  /** A container's preStop, and the end of the JVM. */
  private static final Duration BESIDE = Duration.ofSeconds(5);

  private static final Config USUAL =
      ConfigReader.read(Settings.of(Map.of(), Map.of(), KUBERNETES.resolve("postrider.yaml")));

  @TempDir Path folder;

  private static Duration patience(String command) {
    return command.equals("relay") ? Relays.patience(USUAL) : ServerCommand.PATIENCE;
  }

  private static int port(String command) {
    return command.equals("relay") ? USUAL.monitor().port() : ServerConfig.DEFAULT.port();
  }

  private static List<Yaml> documents(Path file) throws Exception {
    List<Yaml> documents = new ArrayList<>();
    new Load(LoadSettings.builder().build())
        .loadAllFromString(Files.readString(file))
        .forEach(document -> documents.add(new Yaml(document)));
    return documents;
  }

  private static Yaml document(String file, String kind) throws Exception {
    return documents(KUBERNETES.resolve(file + ".yaml")).stream()
        .filter(document -> document.text("kind").equals(kind))
        .findFirst()
        .orElseThrow();
  }

  private static Yaml compose(String service) throws Exception {
    return documents(ROOT.resolve("compose.yaml")).get(0).at("services").at(service);
  }

  /** Tags move: the same file would give another image tomorrow. */
  @Test
  void imagesOfOthersArePinnedByDigest() throws Exception {
    List<String> images = new ArrayList<>();
    Pattern named = Pattern.compile("(?m)^(?:FROM| +image:) +(\\S+)");
    for (String file : List.of("Dockerfile", "compose.yaml")) {
      named
          .matcher(Files.readString(ROOT.resolve(file)))
          .results()
          .map(match -> match.group(1))
          .filter(image -> !image.equals("postrider"))
          .forEach(images::add);
    }
    assertThat(images).hasSize(4).allMatch(image -> image.matches("\\S+:\\S+@sha256:[0-9a-f]{64}"));
  }

  /** A process that is killed early leaves its messages to the reaper, which takes a lease. */
  @ParameterizedTest
  @ValueSource(strings = {"relay", "server"})
  void thereIsTimeToStop(String command) throws Exception {
    Duration needed = patience(command).plus(BESIDE);
    assertThat(
            Duration.ofSeconds(
                document(command, "Deployment")
                    .at("spec")
                    .at("template")
                    .at("spec")
                    .number("terminationGracePeriodSeconds")))
        .isGreaterThan(needed);
    assertThat(Units.duration(compose(command).text("stop_grace_period"))).isGreaterThan(needed);
    String unit =
        Files.readString(ROOT.resolve("deploy/systemd/postrider-" + command + ".service"));
    assertThat(Duration.ofSeconds(Long.parseLong(group(unit, "^TimeoutStopSec=(\\d+)$"))))
        .isGreaterThan(needed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"relay", "server"})
  void aServiceNamesEveryPodAtItsPort(String command) throws Exception {
    Yaml pod = document(command, "Deployment").at("spec").at("template");
    Yaml exposed = container(pod.at("spec")).list("ports").get(0);
    assertThat(exposed.number("containerPort")).isEqualTo(port(command));
    Yaml service = document(command, "Service").at("spec");
    assertThat(pod.at("metadata").at("labels").map())
        .containsAllEntriesOf(service.at("selector").map());
    Yaml port = service.list("ports").get(0);
    assertThat(port.text("targetPort")).isEqualTo(exposed.text("name"));
    assertThat(port.number("port")).isEqualTo(port(command));
  }

  /** An unknown variable is an error, so the pod would not start. */
  @ParameterizedTest
  @ValueSource(strings = {"migrate", "relay", "server"})
  void theVariablesOfThePodsAreKnown(String workload) throws Exception {
    Path secret = Files.writeString(folder.resolve("secret"), "hidden");
    Map<String, String> environment = new TreeMap<>();
    String kind = workload.equals("migrate") ? "Job" : "Deployment";
    for (Yaml variable :
        container(document(workload, kind).at("spec").at("template").at("spec")).list("env")) {
      String name = variable.text("name");
      environment.put(
          name,
          name.endsWith("_FILE")
              ? secret.toString()
              : Objects.toString(variable.map().get("value"), "from-elsewhere"));
    }
    environment.remove("POSTRIDER_CONFIG"); // names the file that is read here
    Config config =
        ConfigReader.read(Settings.of(Map.of(), environment, KUBERNETES.resolve("postrider.yaml")));
    assertThat(config.database().user()).startsWith("postrider_");
    if (workload.equals("relay")) {
      assertThat(config.monitor().host()).isEqualTo("0.0.0.0");
    }
  }

  private static Yaml container(Yaml pod) {
    return pod.list("containers").get(0);
  }

  @Test
  void theContainerHasVolumePortsAndHealthCheck() throws Exception {
    String docker = Files.readString(ROOT.resolve("Dockerfile"));
    assertThat(group(docker, "^VOLUME (\\S+)$")).isEqualTo("/var/lib/postrider");
    assertThat(group(docker, "^WORKDIR (/var\\S+)$")).isEqualTo("/var/lib/postrider");
    assertThat(group(docker, "^EXPOSE (.*)$")).isEqualTo(port("server") + " " + port("relay"));
    assertThat(group(docker, "^HEALTHCHECK .*CMD \\[\"(.*)\"]$"))
        .isEqualTo("/opt/postrider/health");
    assertThat(Files.readString(ROOT.resolve("deploy/docker/health")))
        .contains("${POSTRIDER_HEALTH_PORT:-" + port("server") + " " + port("relay") + "}");
  }

  /** Relay and server are checked by the image; what they wait for has a check of its own. */
  @ParameterizedTest
  @ValueSource(strings = {"relay", "server", "migrate"})
  void composeWaitsOnlyForWhatTellsThatItIsReady(String service) throws Exception {
    Map<String, Object> needed = compose(service).at("depends_on").map();
    assertThat(needed).isNotEmpty();
    for (String name : needed.keySet()) {
      String condition = compose(service).at("depends_on").at(name).text("condition");
      if (condition.equals("service_healthy")) {
        assertThat(compose(name).at("healthcheck").map()).containsKeys("test", "interval");
      } else {
        assertThat(condition).isEqualTo("service_completed_successfully");
        assertThat(name).isEqualTo("migrate");
      }
    }
  }

  private static String group(String text, String pattern) {
    Matcher found = Pattern.compile(pattern, Pattern.MULTILINE).matcher(text);
    assertThat(found.find()).as(pattern).isTrue();
    return found.group(1);
  }

  /** A part of a document. */
  private record Yaml(Object value) {
    @SuppressWarnings("unchecked")
    Map<String, Object> map() {
      return (Map<String, Object>) value;
    }

    private Object get(String key) {
      return Objects.requireNonNull(map().get(key), key);
    }

    Yaml at(String key) {
      return new Yaml(get(key));
    }

    String text(String key) {
      return get(key).toString();
    }

    long number(String key) {
      return Long.parseLong(text(key));
    }

    List<Yaml> list(String key) {
      return ((List<?>) get(key)).stream().map(Yaml::new).toList();
    }
  }
}

package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.cli.Executable.Result;
import dev.postrider.cli.Executable.Running;
import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.ConfigReader;
import dev.postrider.cli.config.DestinationConfig;
import dev.postrider.cli.config.Page;
import dev.postrider.cli.settings.Settings;
import dev.postrider.server.ServerConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.time.LocalDateTime;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is given to people who do not build: one jar, and a container. */
@Tag("OP-1")
class DistributionTest {
  private static final Path ROOT = Path.of("..");
  private static final Path SINGLE = Path.of("target/single/postrider.jar").toAbsolutePath();

  @TempDir Path folder;

  private static String group(String text, String pattern) {
    Matcher found = Pattern.compile(pattern, Pattern.MULTILINE).matcher(text);
    assertThat(found.find()).as(pattern).isTrue();
    return found.group(1);
  }

  private Running single(String... arguments) {
    List<String> command = new java.util.ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-jar", folder.resolve("postrider.jar").toString()));
    command.addAll(List.of(arguments));
    return Executable.in(folder).start(command);
  }

  @Test
  void theSingleJarNeedsNothingBesideIt() throws Exception {
    Files.copy(SINGLE, folder.resolve("postrider.jar"));
    try (Running up = single("up", "--port", "0", "--verbose")) {
      await().until(() -> up.err().contains("Ctrl-C ends it.") || !up.process().isAlive());
      String url = group(up.err(), "Server: (http://\\S+)");
      String token = Files.readString(folder.resolve(".postrider/operator-token")).strip();
      assertThat(
              Http.post(
                  url + "/v1/messages",
                  token,
                  "{\"namespace\": \"a\", \"topic\": \"b\", \"payload\": 1}"))
          .contains("\"id\"");
      await().until(() -> up.out().contains("\"namespace\":\"a\"") || !up.process().isAlive());
      assertThat(up.err())
          .contains(" DEBUG ")
          .doesNotContain("No SLF4J providers", token + " DEBUG");
      assertThat(up.interrupt().exitCode()).as(up.err()).isZero();
    }
    for (String type : List.of("kafka", "rabbitmq", "webhook")) {
      Path yaml = folder.resolve(type + ".yaml");
      Files.writeString(yaml, Page.of("destinations/" + type + ".md").yaml());
      try (Running config = single("config", "--config", yaml.toString())) {
        config.awaitExit();
        assertThat(config.result().ok()).contains(type);
      }
    }
  }

  /** What {@code scripts/check-reproducible} finds out in minutes shows here first. */
  @Test
  void theJarDoesNotTellWhenItWasBuilt() throws Exception {
    try (ZipFile zip = new ZipFile("target/postrider.jar")) {
      assertThat(zip.stream().map(ZipEntry::getTimeLocal).distinct())
          .containsExactly(LocalDateTime.of(2025, 1, 1, 0, 0));
    }
  }

  /** The script, the jar and the health check, laid out as in the container. */
  @Test
  void theInstalledCommandRunsAndItsHealthCheckTellsHowItIs() throws Exception {
    Path opt = Files.createDirectory(folder.resolve("opt"));
    for (Path file :
        List.of(ROOT.resolve("postrider"), SINGLE, ROOT.resolve("deploy/docker/health"))) {
      Files.copy(file, opt.resolve(file.getFileName()), StandardCopyOption.COPY_ATTRIBUTES);
    }
    Path command = Files.createSymbolicLink(folder.resolve("link"), opt.resolve("postrider"));
    String port;
    try (Running up =
        Executable.in(folder).start(List.of(command.toString(), "up", "--port", "0"))) {
      await().until(() -> up.err().contains("Ctrl-C ends it.") || !up.process().isAlive());
      port = group(up.err(), "Server: http://[^:]+:(\\d+)");
      await().until(() -> health(opt, port).exitCode() == 0);
      assertThat(up.interrupt().exitCode()).as(up.err()).isZero();
    }
    assertThat(health(opt, port).exitCode()).isOne();
    assertThat(health(opt, port).out()).contains("nothing listens on " + port);
  }

  private Result health(Path opt, String port) {
    try (Running health =
        Executable.in(folder)
            .with("POSTRIDER_HEALTH_PORT", port)
            .start(List.of(opt.resolve("health").toString()))) {
      health.awaitExit();
      return health.result();
    }
  }

  @Test
  void theContainerIsMadeOfWhatThereIs() throws Exception {
    String docker = Files.readString(ROOT.resolve("Dockerfile"));
    for (String file : group(docker, "^COPY --from=build (.*) /opt/postrider/$").split(" ", -1)) {
      assertThat(ROOT.resolve(file.substring("/source/".length()))).exists();
    }
    assertThat(group(docker, "CMD \\[\"/opt/postrider/(\\w+)\"]$")).isEqualTo("health");
    assertThat(group(docker, "^USER (\\d+):\\d+$")).isNotEqualTo("0");
    assertThat(group(docker, "^ENTRYPOINT \\[\"(.*)\"]$")).isEqualTo("postrider");
    assertThat(group(docker, "^EXPOSE (\\d+)"))
        .isEqualTo(Integer.toString(ServerConfig.DEFAULT.port()));
  }

  @Test
  @SuppressWarnings("unchecked")
  void composeStartsWhatItsSettingsName() throws Exception {
    Map<String, Map<String, Map<String, Object>>> compose =
        (Map<String, Map<String, Map<String, Object>>>)
            Executable.parsed(Files.readString(ROOT.resolve("compose.yaml")));
    Map<String, Map<String, Object>> services = compose.get("services");
    assertThat(services).allSatisfy((name, service) -> assertThat(service).containsKey("restart"));
    assertThat((List<String>) services.get("server").get("ports"))
        .containsExactly("127.0.0.1:%1$s:%1$s".formatted(ServerConfig.DEFAULT.port()));
    for (String name : List.of("migrate", "relay", "server")) {
      Map<String, String> environment = new TreeMap<>();
      ((Map<String, Object>) services.get(name).get("environment"))
          .forEach((variable, value) -> environment.put(variable, value.toString()));
      Config config = ConfigReader.read(Settings.of(Map.of(), environment, null));
      assertThat(config.destinations())
          .extracting(DestinationConfig::type)
          .containsExactly("rabbitmq");
      assertThat(config.routes()).hasSize(1);
      assertThat(services).containsKeys(config.database().url().split("[@/]", -1)[3], "rabbitmq");
    }
  }

  @Test
  void theConfigurationForKubernetesIsOne() {
    Config config =
        ConfigReader.read(
            Settings.of(Map.of(), Map.of(), ROOT.resolve("deploy/kubernetes/postrider.yaml")));
    assertThat(config.routes()).hasSize(1);
  }

  @Test
  void theBillOfMaterialsHasEveryLibraryWithItsDigest() throws Exception {
    String bom = Files.readString(Path.of("target/bom.json"));
    try (Stream<Path> jars = Files.list(Path.of("target/lib"))) {
      for (Path jar : jars.filter(path -> !path.toString().contains("postrider-")).toList()) {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        String hash = HexFormat.of().formatHex(digest.digest(Files.readAllBytes(jar)));
        assertThat(bom.contains(hash)).as(jar + " is in bom.json").isTrue();
      }
    }
  }
}

package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.cli.Executable.Running;
import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.ConfigReader;
import dev.postrider.cli.config.DestinationConfig;
import dev.postrider.cli.config.Page;
import dev.postrider.cli.settings.Settings;
import dev.postrider.server.ServerConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
      String token = group(up.err(), "(postrider_\\S+)");
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

  @Test
  @SuppressWarnings("unchecked")
  void theContainerIsMadeOfWhatThereIs() throws Exception {
    String docker = Files.readString(ROOT.resolve("Dockerfile"));
    String built = group(docker, "^COPY --from=build /source/cli/(\\S+) ");
    String inside = group(docker, "^COPY --from=build \\S+ (\\S+)$");
    assertThat(Path.of(built)).exists().hasFileName(SINGLE.getFileName().toString());
    assertThat(group(docker, "\"-jar\", \"(\\S+)\"]")).isEqualTo(inside);
    String port = Integer.toString(ServerConfig.DEFAULT.port());
    assertThat(group(docker, "^EXPOSE (\\d+)")).isEqualTo(port);

    Map<String, Map<String, Map<String, Object>>> compose =
        (Map<String, Map<String, Map<String, Object>>>)
            Executable.parsed(Files.readString(ROOT.resolve("compose.yaml")));
    Map<String, Object> service = compose.get("services").get("postrider");
    assertThat((List<String>) service.get("ports"))
        .containsExactly("127.0.0.1:%1$s:%1$s".formatted(port));
    Map<String, String> environment = new TreeMap<>();
    ((Map<String, Object>) service.get("environment"))
        .forEach((name, value) -> environment.put(name, value.toString()));
    Config config = ConfigReader.read(Settings.of(Map.of(), environment, null));
    assertThat(config.destinations())
        .extracting(DestinationConfig::type)
        .containsExactly("rabbitmq");
    assertThat(config.routes()).hasSize(1);
    assertThat(compose.get("services"))
        .containsKeys(config.database().url().split("[@/]", -1)[3], "rabbitmq");
  }
}

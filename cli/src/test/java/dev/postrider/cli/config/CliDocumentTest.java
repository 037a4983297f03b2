package dev.postrider.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.cli.settings.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page about the executable shows what there is, all of it. */
@Tag("HE-13")
class CliDocumentTest {
  @TempDir Path folder;

  private static List<MatchResult> find(String pattern) throws Exception {
    return Page.of("cli.md").find(pattern);
  }

  @Test
  void theExampleWorksAndTheTableHasEveryKeyWithItsDefault() throws Exception {
    Path file = folder.resolve("postrider.yaml");
    Files.writeString(file, Page.of("cli.md").yaml());
    Settings settings = Settings.of(Map.of(), Map.of(), file);
    Config config = ConfigReader.read(settings);
    assertThat(config.routes()).hasSize(2);

    Set<String> read =
        settings.effective().stream()
            .map(setting -> general(setting.path()))
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> documented = new TreeSet<>();
    find("^\\| `(postrider\\.[^`]+)` \\|").forEach(row -> documented.add(row.group(1)));
    assertThat(documented).isEqualTo(read);
  }

  private static String general(String path) {
    return path.replaceAll("\\[\\d+]", "[N]").replace("destinations.screen.", "destinations.NAME.");
  }

  @Test
  void theDefaultsAreTheOnesInEffect() throws Exception {
    Settings.Flag type = new Settings.Flag("log", "--set");
    Settings settings =
        Settings.of(Map.of("postrider.destinations.NAME.type", type), Map.of(), null);
    ConfigReader.read(settings);
    Map<String, String> effective =
        settings.effective().stream()
            .collect(Collectors.toMap(Settings.Effective::path, Settings.Effective::value));
    for (MatchResult row : find("^\\| `(postrider\\.[^`\\[]+)` \\| ([0-9][^ |]*) \\|")) {
      String documented = inBytes(row.group(2));
      assertThat(effective).containsEntry(row.group(1), documented);
    }
  }

  private static String inBytes(String size) {
    return size.endsWith("MiB")
        ? Long.toString(Long.parseLong(size.replace("MiB", "")) << 20)
        : size;
  }
}

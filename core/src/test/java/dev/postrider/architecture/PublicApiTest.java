package dev.postrider.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What module-info exports, compared with the sources. */
class PublicApiTest {
  /** Raise it only for a type that users write against. */
  private static final int TYPES_MAX = 85;

  private static final Path SOURCES = Path.of("src/main/java");
  private static final Pattern EXPORT = Pattern.compile("exports ([\\w.]+)(?: to([^;]+))?;");
  private static final Pattern TYPE =
      Pattern.compile(
          "(/\\*\\*(?:[^*]|\\*(?!/))*\\*/)?\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*"
              + "^public (?:(?:final|abstract|sealed|non-sealed) )*(?:class|interface|record|enum) (\\w+)",
          Pattern.MULTILINE);
  private static final Pattern INTERNAL =
      Pattern.compile("^import (?:static )?(dev\\.postrider\\.internal\\.\\w+)", Pattern.MULTILINE);

  @Test
  void fewTypesArePublicAndEachSaysHowThreadsMayUseIt() throws Exception {
    List<String> types = new ArrayList<>();
    List<String> silent = new ArrayList<>();
    for (Map.Entry<String, Set<String>> export : exports().entrySet()) {
      if (!export.getValue().isEmpty()) {
        continue;
      }
      for (Path file : files(SOURCES.resolve(export.getKey().replace('.', '/')), 1)) {
        Matcher type = TYPE.matcher(Files.readString(file));
        if (type.find()) {
          types.add(type.group(2));
          String javadoc = String.valueOf(type.group(1));
          if (!javadoc.matches("(?s).*([Tt]hread|[Ii]mmutable|no state).*")) {
            silent.add(type.group(2));
          }
        }
      }
    }
    assertThat(types).hasSizeBetween(50, TYPES_MAX);
    assertThat(silent).isEmpty();
  }

  @Test
  void everyInternalPackageThatAnotherModuleUsesIsExportedToIt() throws Exception {
    Map<String, Set<String>> used = new TreeMap<>();
    List<String> modules =
        List.of(
            "archive-s3",
            "cli",
            "embedded",
            "kafka",
            "rabbitmq",
            "server",
            "spring",
            "testkit",
            "webhook");
    for (String module : modules) {
      for (Path file : files(Path.of("..", module, "src/main/java"), 20)) {
        INTERNAL
            .matcher(Files.readString(file))
            .results()
            .map(match -> match.group(1))
            .forEach(
                name ->
                    used.computeIfAbsent(name, n -> new TreeSet<>())
                        .add("dev.postrider." + module));
      }
    }
    Map<String, Set<String>> friends = exports();
    friends.values().removeIf(Set::isEmpty);
    assertThat(friends).isEqualTo(used);
  }

  /** Packages and the modules that they are exported to; none if they are exported to all. */
  private static Map<String, Set<String>> exports() throws IOException {
    return EXPORT
        .matcher(Files.readString(SOURCES.resolve("module-info.java")))
        .results()
        .collect(
            Collectors.toMap(
                export -> export.group(1), PublicApiTest::friends, (a, b) -> a, TreeMap::new));
  }

  private static Set<String> friends(MatchResult export) {
    return export.group(2) == null
        ? Set.of()
        : new TreeSet<>(List.of(export.group(2).strip().split("\\s*,\\s*")));
  }

  private static List<Path> files(Path folder, int depth) {
    try (Stream<Path> files = Files.walk(folder, depth)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

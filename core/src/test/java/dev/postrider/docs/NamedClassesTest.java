package dev.postrider.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The classes that the documents for contributors name, such as {@code relay.Exchange}. */
class NamedClassesTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern CLASS = Pattern.compile("`([a-z]+(?:\\.[a-z]+)*\\.[A-Z][a-z]\\w+)");

  @Test
  void exist() throws Exception {
    List<String> missing = new ArrayList<>();
    for (String document : List.of("ARCHITECTURE.md", "docs/glossary.md")) {
      CLASS
          .matcher(Files.readString(ROOT.resolve(document)))
          .results()
          .map(name -> name.group(1))
          .filter(name -> !exists("core", name.replace('.', '/')))
          .forEach(missing::add);
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void pathsExist() throws Exception {
    String contributing = Files.readString(ROOT.resolve("CONTRIBUTING.md"));
    List<String> missing = new ArrayList<>();
    Map.of("core", "", "cli", "cli/", "server", "server/")
        .forEach(
            (module, folder) ->
                Pattern.compile(module + "/…/([\\w/]+/[A-Z]\\w+)")
                    .matcher(contributing)
                    .results()
                    .map(path -> path.group(1))
                    .filter(path -> !exists(module, folder + path))
                    .forEach(missing::add));
    assertThat(missing).isEmpty();
  }

  private static boolean exists(String module, String path) {
    return Files.exists(
        ROOT.resolve(module).resolve("src/main/java/dev/postrider").resolve(path + ".java"));
  }
}

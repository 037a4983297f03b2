package dev.postrider.spring.alone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the pages about Spring say is what there is. */
@Tag("OP-5")
class SpringDocumentTest {
  private static final Path DOCS = Path.of("../../docs");

  /** Lines with something on them other than a brace. */
  private static long lines(String section) {
    Matcher code = Pattern.compile("```(?:java|yaml)\n(.*?)```", Pattern.DOTALL).matcher(section);
    return code.results()
        .flatMap(block -> block.group(1).lines())
        .filter(line -> !line.isBlank() && !line.strip().equals("}"))
        .count();
  }

  @Test
  void theNumbersOfLinesAreThoseOfTheCode() throws Exception {
    String page = Files.readString(DOCS.resolve("spring-compared.md"));
    TreeMap<String, Long> counted = new TreeMap<>();
    for (String section : List.of(page.split("\n## ")).subList(1, 5)) {
      counted.put(section.lines().findFirst().orElseThrow(), lines(section));
    }
    TreeMap<String, Long> said = new TreeMap<>();
    Matcher row =
        Pattern.compile("(?m)^\\| ([A-Za-z -]+?)(?: [\\d.]+.*?)? \\| (\\d+) \\|").matcher(page);
    while (row.find()) {
      said.put(row.group(1), Long.valueOf(row.group(2)));
    }
    assertThat(said).hasSize(4).isEqualTo(counted);
  }

  /** The description of properties for IDEs, which the compiler writes. */
  private static List<MatchResult> properties() throws Exception {
    try (InputStream metadata =
        SpringDocumentTest.class.getResourceAsStream(
            "/META-INF/spring-configuration-metadata.json")) {
      String json =
          new String(Objects.requireNonNull(metadata).readAllBytes(), StandardCharsets.UTF_8);
      String list = json.substring(json.indexOf("\"properties\""));
      return Pattern.compile("\\{\\s*\"name\": \"([^\"]+)\"[^}]*\\}")
          .matcher(list)
          .results()
          .toList();
    }
  }

  @Test
  void everyPropertyIsDescribedForIdes() throws Exception {
    assertThat(properties())
        .hasSizeGreaterThan(30)
        .allSatisfy(property -> assertThat(property.group()).contains("\"description\""));
  }

  @Test
  void everyPropertyIsInTheTable() throws Exception {
    String page = Files.readString(DOCS.resolve("spring.md"));
    Set<String> missing = new TreeSet<>();
    for (MatchResult property : properties()) {
      String name = property.group(1);
      String last = name.substring(name.lastIndexOf('.') + 1);
      boolean listed =
          page.contains("`" + name)
              || page.contains("`" + last + "`")
              || name.startsWith("postrider.retention.")
              || name.startsWith("management.");
      if (!listed) {
        missing.add(name);
      }
    }
    missing.removeAll(Set.of("postrider.destinations", "postrider.routes"));
    assertThat(missing).isEmpty();
  }
}

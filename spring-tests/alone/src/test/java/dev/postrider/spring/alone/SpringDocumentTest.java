package dev.postrider.spring.alone;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The comparison counts the lines that it shows. */
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
}

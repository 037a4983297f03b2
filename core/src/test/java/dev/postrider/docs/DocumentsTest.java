package dev.postrider.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.MessageState;
import dev.postrider.message.RetryPolicy;
import dev.postrider.testing.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the documents show is what the code does. */
class DocumentsTest {
  private static final Path ROOT = Path.of("..");

  @Test
  void theFirstMessageArrives() throws Exception {
    TestDatabase database = TestDatabase.empty(18);
    database.execute("create table orders (id text primary key)");
    FirstMessage.main(new String[] {database.jdbcUrl()});
    assertThat(database.column("select state from postrider.message_state"))
        .containsExactly("delivered");
    assertThat(database.column("select convert_from(payload, 'UTF8') from postrider.message"))
        .isEqualTo(database.column("select format('{\"orderId\":\"%s\"}', id) from public.orders"));
  }

  @Test
  void theReadmeShowsTheProgramThatRuns() throws Exception {
    String source = Files.readString(Path.of("src/test/java/dev/postrider/docs/FirstMessage.java"));
    String program = source.substring(source.indexOf("import "));
    assertThat(Files.readString(ROOT.resolve("README.md"))).contains("```java\n" + program + "```");
  }

  @Test
  void theStateDiagramIsTheEnum() throws Exception {
    String diagram = Files.readString(ROOT.resolve("docs/state-machine.md"));
    Matcher arrow = Pattern.compile("(\\w+) --> (\\w+): (.*)").matcher(diagram);
    TreeSet<String> drawn = new TreeSet<>();
    while (arrow.find()) {
      boolean operator = arrow.group(3).contains("operator");
      drawn.add(arrow.group(1) + (operator ? " by operator " : " ") + arrow.group(2));
    }
    TreeSet<String> legal = new TreeSet<>();
    for (MessageState state : MessageState.values()) {
      state.next().forEach(next -> legal.add(name(state) + " " + name(next)));
      state.nextByOperator().forEach(next -> legal.add(name(state) + " by operator " + name(next)));
    }
    assertThat(drawn).isEqualTo(legal);
  }

  @Test
  @Tag("HE-7")
  void theTableOfPausesIsTheBackoff() throws Exception {
    String table = Files.readString(ROOT.resolve("docs/reference/relay.md"));
    StringBuilder pauses = new StringBuilder("| pause |");
    for (int attempts = 1; attempts < RetryPolicy.DEFAULT.maxAttempts(); attempts++) {
      pauses.append(
          " %d s |".formatted(RetryPolicy.DEFAULT.backoff().delay(attempts, 0.5).toSeconds()));
    }
    assertThat(table).contains(pauses);
  }

  private static String name(MessageState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }

  @Test
  void conformanceListsEveryTaggedRequirement() throws Exception {
    Pattern tag = Pattern.compile("@Tag\\(\"([A-Z]{2}-\\d+)\"\\)");
    TreeSet<String> tagged = new TreeSet<>();
    for (Path file : testSources()) {
      Matcher found = tag.matcher(Files.readString(file));
      while (found.find()) {
        tagged.add(found.group(1));
      }
    }
    TreeSet<String> listed = new TreeSet<>();
    Matcher row =
        Pattern.compile("^\\| ([A-Z]{2}-\\d+) \\|.*\\| tested \\|", Pattern.MULTILINE)
            .matcher(Files.readString(ROOT.resolve("docs/conformance.md")));
    while (row.find()) {
      listed.add(row.group(1));
    }
    assertThat(listed).isEqualTo(tagged);
  }

  @Test
  void everyLogEventIsWrittenByLogLineAndListed() throws Exception {
    Pattern event =
        Pattern.compile(
            "\\b(?:LogLine\\.of|line)\\(\\s*(?:\\w+\\(\\w+\\) \\? )?\"([a-z]+_[a-z_]+)\"");
    TreeSet<String> written = new TreeSet<>();
    for (Path file : sources("src/main")) {
      String source = Files.readString(file);
      assertThat(source.replace("append(\"event=\")", ""))
          .describedAs("%s uses LogLine for its events", file)
          .doesNotContain("\"event=");
      event.matcher(source).results().forEach(found -> written.add(found.group(1)));
    }
    Pattern row =
        Pattern.compile("^\\| ([a-z_]+) \\| (?:DEBUG|INFO|WARN|ERROR)", Pattern.MULTILINE);
    String page = Files.readString(ROOT.resolve("docs/reference/metrics.md"));
    List<String> listed = row.matcher(page).results().map(found -> found.group(1)).toList();
    assertThat(listed).doesNotHaveDuplicates().containsAll(written);
  }

  @Test
  void sourceFilesAreShort() throws Exception {
    Map<String, Integer> tooLong = new TreeMap<>();
    for (Path file : sources("src/main")) {
      int lines = Files.readAllLines(file).size();
      if (lines > 300) {
        tooLong.put(file.toString(), lines);
      }
    }
    assertThat(tooLong).isEmpty();
  }

  /** Tables, code and links that stand alone may be wider. */
  @Test
  void linesOfDocumentsAreAtMost120Columns() throws Exception {
    List<String> tooLong = new ArrayList<>();
    for (Path file : documents()) {
      boolean code = false;
      for (String line : Files.readAllLines(file)) {
        code ^= line.strip().startsWith("```");
        boolean text = !code && !line.strip().startsWith("|") && line.strip().contains(" ");
        if (text && line.codePointCount(0, line.length()) > 120) {
          tooLong.add(file + ": " + line);
        }
      }
    }
    assertThat(tooLong).isEmpty();
  }

  private static List<Path> documents() throws Exception {
    List<Path> documents = new ArrayList<>();
    for (Path folder : List.of(ROOT, ROOT.resolve("docs"), ROOT.resolve("examples"))) {
      int depth = folder.equals(ROOT) ? 1 : 3;
      try (Stream<Path> files = Files.walk(folder, depth)) {
        files
            .filter(f -> f.toString().endsWith(".md") && !f.toString().contains("/target/"))
            .forEach(documents::add);
      }
    }
    return documents;
  }

  private static List<Path> testSources() throws Exception {
    return sources("src/test");
  }

  private static List<Path> sources(String folder) throws Exception {
    List<Path> sources = new ArrayList<>();
    for (Path parent : List.of(ROOT, ROOT.resolve("examples"))) {
      try (Stream<Path> modules = Files.list(parent)) {
        for (Path module : modules.filter(m -> Files.isDirectory(m.resolve(folder))).toList()) {
          try (Stream<Path> files = Files.walk(module.resolve(folder))) {
            files.filter(f -> f.toString().endsWith(".java")).forEach(sources::add);
          }
        }
      }
    }
    return sources;
  }
}

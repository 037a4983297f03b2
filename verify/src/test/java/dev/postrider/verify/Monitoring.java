package dev.postrider.verify;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The files under monitoring/, and Prometheus' own tool to check them. */
final class Monitoring {
  static final Path DIRECTORY = Path.of("../monitoring");

  private Monitoring() {}

  /** One rule or one test of a rule, as it stands in its file. */
  record Entry(Map<?, ?> fields) {
    String text(String name) {
      return String.valueOf(fields.get(name));
    }

    List<Entry> list(String name) {
      List<Entry> entries = new ArrayList<>();
      if (fields.get(name) instanceof List<?> values) {
        values.forEach(value -> entries.add(new Entry((Map<?, ?>) value)));
      }
      return entries;
    }

    Entry entry(String name) {
      return new Entry((Map<?, ?>) fields.get(name));
    }
  }

  /** A file in YAML or JSON, which is YAML as well. */
  static Entry read(String file) throws IOException {
    Load yaml = new Load(LoadSettings.builder().build());
    String text = Files.readString(DIRECTORY.resolve(file));
    return new Entry((Map<?, ?>) yaml.loadFromString(text));
  }

  static List<Entry> rules() throws IOException {
    return read("alerts.yaml").list("groups").stream()
        .flatMap(group -> group.list("rules").stream())
        .toList();
  }

  static List<Entry> panels() throws IOException {
    return read("grafana-dashboard.json").list("panels");
  }

  /** What the dashboard asks for, of all jobs. */
  static List<String> queries() throws IOException {
    return panels().stream()
        .flatMap(panel -> panel.list("targets").stream())
        .map(target -> target.text("expr").replace("$job", ".*"))
        .toList();
  }

  static List<String> expressions() throws IOException {
    return Stream.concat(rules().stream().map(rule -> rule.text("expr")), queries().stream())
        .toList();
  }

  /** Runs promtool and returns what it printed; fails if it does, or is not there. */
  static String promtool(Path directory, String... arguments) throws Exception {
    return promtool("promtool", directory, arguments);
  }

  static String promtool(String program, Path directory, String... arguments) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(program).directory(directory.toFile());
    builder.command().addAll(List.of(arguments));
    return run(builder);
  }

  /** What promtool has to say about an exposition. */
  static String checkMetrics(String exposition) throws Exception {
    Path input = Files.createTempFile("promtool", ".in");
    try {
      Files.writeString(input, exposition);
      return run(new ProcessBuilder("promtool", "check", "metrics").redirectInput(input.toFile()));
    } finally {
      Files.delete(input);
    }
  }

  private static String run(ProcessBuilder builder) throws Exception {
    Path output = Files.createTempFile("promtool", ".out");
    try {
      Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
      boolean ended = process.waitFor(60, TimeUnit.SECONDS);
      process.destroyForcibly();
      String text = Files.readString(output, StandardCharsets.UTF_8);
      if (!ended || process.exitValue() != 0) {
        throw new AssertionError(builder.command() + ": " + text);
      }
      return text;
    } catch (IOException e) {
      throw new AssertionError(
          builder.command().get(0)
              + " does not run. Install it (Debian: apt-get install prometheus)",
          e);
    } finally {
      Files.delete(output);
    }
  }
}

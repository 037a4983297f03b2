package dev.postrider.verify.model;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** TLC, the model checker of TLA+, in its own process: it is full of static state. */
final class Tlc {
  private static final Pattern PLACE = Pattern.compile(" line \\d+, col .* of module \\w+>");
  private static final Pattern DONE = Pattern.compile("\\d+ states generated, .*");

  private final Path directory;

  /** A checker that writes its files here. */
  Tlc(Path directory) {
    this.directory = directory;
  }

  /**
   * What the checker found.
   *
   * @param counterexample the property that does not hold and the states that show it; empty if all
   *     hold
   */
  record Result(String output, List<String> counterexample) {
    boolean holds() {
      return output.contains("Model checking completed. No error has been found.");
    }
  }

  /** Checks all states of a module from this package's resources. */
  Result check(String module, Map<String, String> constants, String invariants, String property)
      throws Exception {
    Files.writeString(directory.resolve(module + ".tla"), resource(module + ".tla"));
    String config =
        "SPECIFICATION Spec\nCONSTANTS\n"
            + constants.entrySet().stream()
                .map(c -> "  " + c.getKey() + " = " + c.getValue() + "\n")
                .collect(Collectors.joining())
            + "INVARIANTS "
            + invariants
            + "\nPROPERTIES "
            + property
            + "\nCHECK_DEADLOCK FALSE\n";
    Files.writeString(directory.resolve("model.cfg"), config);
    String output = run(module);
    return new Result(output, counterexample(output));
  }

  static String resource(String name) throws IOException {
    try (InputStream in = Tlc.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IOException("no resource " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private String run(String module) throws Exception {
    Path jar =
        Path.of(
            Class.forName("tlc2.TLC").getProtectionDomain().getCodeSource().getLocation().toURI());
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx512m", "-XX:+UseParallelGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", jar.toString(), "tlc2.TLC"));
    // One worker and fixed numbers: the same counterexample each time.
    command.addAll(List.of("-workers", "1", "-fp", "0", "-seed", "0"));
    command.addAll(List.of("-metadir", "states", "-config", "model.cfg", module + ".tla"));
    Process process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }

  private static List<String> counterexample(String output) {
    List<String> lines = new ArrayList<>();
    for (String line : output.lines().toList()) {
      if (DONE.matcher(line).matches()) {
        break;
      }
      boolean told = line.startsWith("Error: Invariant") || line.startsWith("Error: Temporal");
      if ((told || !lines.isEmpty()) && !line.startsWith("Error: The ")) {
        lines.add(PLACE.matcher(line).replaceFirst(">"));
      }
    }
    return lines;
  }
}

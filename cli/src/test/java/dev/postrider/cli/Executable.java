package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * The built jar, run as its users run it. Immutable.
 *
 * @param stdin a character for each byte
 */
record Executable(Path folder, Map<String, String> environment, String stdin) {
  private static final Path JAR = Path.of("target/postrider.jar").toAbsolutePath();
  private static final long SECONDS_MAX = 60;

  static {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(SECONDS_MAX));
    Awaitility.setDefaultPollInterval(Duration.ofMillis(50));
  }

  static Executable in(Path folder) {
    return new Executable(folder, Map.of(), "");
  }

  Executable with(String variable, String value) {
    Map<String, String> more = new LinkedHashMap<>(environment);
    more.put(variable, value);
    return new Executable(folder, more, stdin);
  }

  Executable reading(String text) {
    return reading(text.getBytes(StandardCharsets.UTF_8));
  }

  Executable reading(byte[] bytes) {
    return new Executable(folder, environment, new String(bytes, StandardCharsets.ISO_8859_1));
  }

  /** What a run came to. */
  record Result(int exitCode, String out, String err) {
    /** Fails unless it went well; returns what it printed. */
    String ok() {
      assertThat(exitCode).as("exit code; %s%s", out, err).isZero();
      return out.strip();
    }

    /** The same, as JSON, of which YAML is a superset. */
    @SuppressWarnings("unchecked")
    Map<String, Object> json() {
      return (Map<String, Object>) parsed(ok());
    }

    void failed(int code, String... said) {
      assertThat(exitCode).as("exit code; %s%s", out, err).isEqualTo(code);
      assertThat(err).contains(said).doesNotContain("Exception", "\tat ");
    }
  }

  static Object parsed(String json) {
    return new Load(LoadSettings.builder().build()).loadFromString(json);
  }

  Result run(String... arguments) {
    try (Running running = start(arguments)) {
      running.awaitExit();
      return running.result();
    }
  }

  Running start(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-jar",
                JAR.toString()));
    command.addAll(List.of(arguments));
    return start(command);
  }

  /** A shell starts background jobs with SIGINT ignored, and their children inherit that. */
  private static List<String> interruptible(List<String> command) {
    List<String> all = new ArrayList<>(List.of("env", "--default-signal=INT"));
    all.addAll(command);
    return all;
  }

  Running start(List<String> command) {
    try {
      Path out = Files.createTempFile(folder, "out", "");
      Path err = Files.createTempFile(folder, "err", "");
      ProcessBuilder builder =
          new ProcessBuilder(interruptible(command))
              .directory(folder.toFile())
              .redirectOutput(out.toFile())
              .redirectError(err.toFile());
      builder.environment().keySet().removeIf(name -> name.startsWith("POSTRIDER_"));
      builder.environment().put("LC_ALL", "C.UTF-8");
      builder.environment().put("POSTRIDER_RELAY_MONITOR_PORT", "0");
      builder.environment().putAll(environment);
      Process process = builder.start();
      process.getOutputStream().write(stdin.getBytes(StandardCharsets.ISO_8859_1));
      process.getOutputStream().close();
      return new Running(process, out, err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A run that has not ended, or has. */
  record Running(Process process, Path outFile, Path errFile) implements AutoCloseable {
    String out() {
      return text(outFile);
    }

    String err() {
      return text(errFile);
    }

    private static String text(Path file) {
      try {
        return Files.readString(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** As Ctrl-C does. */
    Result interrupt() throws IOException, InterruptedException {
      new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
      awaitExit();
      return result();
    }

    void awaitExit() {
      try {
        assertThat(process.waitFor(SECONDS_MAX, TimeUnit.SECONDS))
            .as("it ends; %s%s", out(), err())
            .isTrue();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }

    Result result() {
      return new Result(process.exitValue(), out(), err());
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }
}

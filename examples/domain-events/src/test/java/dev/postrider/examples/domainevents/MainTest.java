package dev.postrider.examples.domainevents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.TestRabbit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example as a new user starts it. */
class MainTest {
  @TempDir Path directory;

  /** Everything it prints, and its exit code in the last line. */
  private String run(String... arguments) throws Exception {
    return end(start(arguments), 120);
  }

  private String output() throws IOException {
    return Files.readString(directory.resolve("output"));
  }

  private String end(Process process, long seconds) throws Exception {
    boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
    process.destroyForcibly();
    return output() + (ended ? "exit " + process.exitValue() : "did not end");
  }

  private Process start(String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                // Background jobs of a shell ignore SIGINT, and their children would, too.
                "env",
                "--default-signal=INT",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                Main.class.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("output").toFile())
        .start();
  }

  /** With a broker of its own, whose end must come after that of the relay and the consumers. */
  @Test
  void ctrlCEndsItWithinSecondsAndEverythingMatches() throws Exception {
    Process process = start("--seconds", "600");
    try {
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> !process.isAlive() || output().matches("(?s).*effects +[1-9].*"));
      new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
      assertThat(end(process, 20))
          .contains("stopped by Ctrl-C", "they match")
          .doesNotContain("DO NOT MATCH", "did not end", "Exception");
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  @Tag("HE-8")
  @Tag("HE-10")
  void everythingMatchesAlsoAfterTheReplay() throws Exception {
    String output = run("--seconds", "3", "--broker", TestRabbit.own().uri());
    assertThat(output)
        .endsWith("exit 0")
        .containsPattern("replayed \\d\\d+ events")
        .doesNotContain("DO NOT MATCH");
    assertThat(output.split("they match", -1)).hasSize(2 * Books.LINES.size() + 1);
  }

  @Test
  @Tag("HE-6")
  void withoutABrokerItSaysWhatItNeeds() throws Exception {
    assertThat(run("--broker", "amqp://guest:s3cret@127.0.0.1:1"))
        .endsWith("exit 1")
        .contains("no connection to Broker[127.0.0.1:1")
        .contains("It needs RabbitMQ: installed, or at --broker amqp://user:password@host")
        .doesNotContain("s3cret", "\tat ");
  }
}

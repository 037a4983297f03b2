package dev.postrider.examples.domainevents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.TestRabbit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example as a new user starts it. */
class MainTest {
  @TempDir Path directory;

  /** Everything it prints, and its exit code in the last line. */
  private String run(String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                Main.class.getName()));
    command.addAll(List.of(arguments));
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    boolean ended = process.waitFor(120, TimeUnit.SECONDS);
    process.destroyForcibly();
    return Files.readString(output) + (ended ? "exit " + process.exitValue() : "did not end");
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

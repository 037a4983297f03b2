package dev.postrider.verify;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A relay in a JVM of its own. Used by one thread. */
final class RelayProcess implements AutoCloseable {
  private final Process process;

  private RelayProcess(Process process) {
    this.process = process;
  }

  static RelayProcess start(String jdbcUrl, String name, String... subscriptions) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    try {
      List<String> command =
          new ArrayList<>(
              List.of(
                  java,
                  "-Xmx128m",
                  "-XX:TieredStopAtLevel=1",
                  "-XX:+UseSerialGC",
                  "-cp",
                  classPath,
                  RelayMain.class.getName(),
                  jdbcUrl,
                  name));
      command.addAll(List.of(subscriptions));
      return new RelayProcess(
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .start());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** SIGKILL: no chance to tidy up. */
  void kill() {
    try {
      process.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** SIGSTOP: it stands still and does not know. Returns when its last thread has stopped. */
  void freeze() {
    signal("-STOP");
    await().atMost(Duration.ofSeconds(20)).until(this::standsStill);
  }

  private boolean standsStill() throws IOException {
    try (DirectoryStream<Path> threads =
        Files.newDirectoryStream(Path.of("/proc", Long.toString(process.pid()), "task"))) {
      for (Path thread : threads) {
        String stat = Files.readString(thread.resolve("stat"));
        if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
          return false;
        }
      }
      return true;
    }
  }

  /** SIGCONT. */
  void thaw() {
    signal("-CONT");
  }

  private void signal(String signal) {
    try {
      int exit =
          new ProcessBuilder("kill", signal, Long.toString(process.pid()))
              .inheritIO()
              .start()
              .waitFor();
      if (exit != 0) {
        throw new IllegalStateException("kill " + signal + " failed: " + exit);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    kill();
  }
}

package dev.postrider.examples.stage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A main class in a JVM of its own, which can be killed. Ends with its parent. Thread-safe. */
public final class ChildProcess implements AutoCloseable {
  private final Process process;

  private ChildProcess(Process process) {
    this.process = process;
  }

  /** Starts a class that ends by itself after {@link #untilParentEnds}. */
  public static ChildProcess start(Class<?> main, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                main.getName()));
    command.addAll(List.of(arguments));
    try {
      return new ChildProcess(
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .start());
    } catch (IOException e) {
      throw new IllegalStateException("no process for " + main.getName(), e);
    }
  }

  /** Called in the child: returns when its parent has ended, or closed it. */
  public static void untilParentEnds() throws IOException {
    while (System.in.read() >= 0) {
      // nobody writes; the end of the stream is the signal
    }
  }

  /** SIGKILL: no chance to tidy up. */
  public void kill() {
    await(process.destroyForcibly());
  }

  /** Asks it to end, and kills it if it does not. */
  @Override
  public void close() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // it has ended already
    }
    if (!await(process)) {
      kill();
    }
  }

  private static boolean await(Process process) {
    try {
      return process.waitFor(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}

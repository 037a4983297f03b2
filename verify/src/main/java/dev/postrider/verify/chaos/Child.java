package dev.postrider.verify.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A process of the run that can be killed, frozen and started again. Thread-safe. */
final class Child implements AutoCloseable {
  private final Path directory;
  private final String name;
  private final Class<?> main;
  private @Nullable Process process;
  private boolean frozen;
  private final Thread atExit = new Thread(this::kill);

  Child(Path directory, String name, Class<?> main) {
    this.directory = directory;
    this.name = name;
    this.main = main;
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  String name() {
    return name;
  }

  /** Starts it, with these options for its JVM. */
  synchronized void start(String... options) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> command = new ArrayList<>(List.of(java, "-Xmx160m", "-Xss512k"));
    // C2 would cost more than it gives to processes that live for seconds.
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"));
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", classPath, main.getName(), directory.toString(), name));
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(
                  ProcessBuilder.Redirect.appendTo(directory.resolve(name + ".log").toFile()))
              .start();
      frozen = false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  synchronized boolean isRunning() {
    return process != null && process.isAlive();
  }

  synchronized boolean isFrozen() {
    return frozen;
  }

  /** SIGKILL; returns when it is dead. */
  synchronized void kill() {
    Process running = process;
    if (running == null) {
      return;
    }
    process = null;
    running.destroyForcibly();
    await(running);
  }

  /** SIGTERM; returns when it has ended, or false if it does not. */
  synchronized boolean end() {
    Process running = process;
    if (running == null) {
      return true;
    }
    running.destroy();
    return await(running);
  }

  /** The exit code of a process that has ended by itself within the limit; -1 if it has not. */
  int exitWithin(long seconds) throws InterruptedException {
    Process running;
    synchronized (this) {
      running = process;
    }
    return running != null && running.waitFor(seconds, TimeUnit.SECONDS) ? running.exitValue() : -1;
  }

  /** Waits for an end that it was asked for in another way. */
  boolean awaitEnd() {
    Process running;
    synchronized (this) {
      running = process;
    }
    return running == null || await(running);
  }

  private static boolean await(Process running) {
    try {
      return running.waitFor(2, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** SIGSTOP. */
  synchronized void freeze() {
    signal("-STOP");
    frozen = true;
  }

  /** SIGCONT. */
  synchronized void thaw() {
    signal("-CONT");
    frozen = false;
  }

  private void signal(String signal) {
    Process running = process;
    if (running != null) {
      Signals.send(signal, running.pid());
    }
  }

  @Override
  public void close() {
    kill();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException shuttingDown) {
      // The hook is what runs now.
    }
  }
}

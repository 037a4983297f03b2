package dev.postrider.kafka.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The broker's JVM: formats its storage, runs it, kills it. Guarded by its server's lock. */
final class BrokerProcess {
  private static final long START_SECONDS = 120;
  private static final long POLL_NANOS = 20_000_000;

  private final String classPath;
  private final Path settings;
  private final int port;
  private @Nullable Process running;

  BrokerProcess(String classPath, Path settings, int port) {
    this.classPath = classPath;
    this.settings = settings;
    this.port = port;
  }

  /** A log directory is used only after it got the cluster's id. */
  void format() {
    // Any 16 bytes in base64 are an id.
    List<String> command =
        java("kafka.tools.StorageTool", "format", "-t", "cG9zdHJpZGVyLXRlc3RzMQ", "-c");
    command.add(settings.toString());
    try {
      Process process = launch(command);
      if (!process.waitFor(START_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw failed("formatting took too long");
      }
      if (process.exitValue() != 0) {
        throw failed("formatting failed");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed("interrupted");
    }
  }

  /** Returns when the broker takes connections, which it does after it has recovered its log. */
  void start() {
    begin();
    untilListening();
  }

  /** Does not wait: brokers of a cluster answer when enough of them run. */
  void begin() {
    running = launch(java("kafka.Kafka", settings.toString()));
  }

  void untilListening() {
    Process process = running;
    if (process == null) {
      throw failed("the broker was not started");
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!listens()) {
      if (!process.isAlive() || System.nanoTime() > deadline) {
        kill();
        throw failed("the broker did not start");
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  void kill() {
    Process process = running;
    running = null;
    if (process == null) {
      return;
    }
    try {
      if (!process.destroyForcibly().waitFor(20, TimeUnit.SECONDS)) {
        throw failed("the broker did not die");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  void freeze() {
    signal("-STOP");
  }

  void thaw() {
    signal("-CONT");
  }

  private void signal(String signal) {
    Process process = running;
    if (process == null) {
      return;
    }
    try {
      Process kill = new ProcessBuilder("kill", signal, Long.toString(process.pid())).start();
      if (kill.waitFor() != 0) {
        throw failed("the broker did not take the signal " + signal);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean listens() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }

  private List<String> java(String main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx384m", "-XX:+UseSerialGC"));
    command.addAll(List.of("-Dlog4j2.level=WARN", "-cp", classPath, main));
    command.addAll(List.of(arguments));
    return command;
  }

  private Process launch(List<String> command) {
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path log() {
    return settings.resolveSibling("broker.log");
  }

  private IllegalStateException failed(String what) {
    try {
      List<String> lines = Files.readAllLines(log());
      List<String> last = lines.subList(Math.max(0, lines.size() - 40), lines.size());
      return new IllegalStateException(what + "; its log ends with\n" + String.join("\n", last));
    } catch (IOException e) {
      return new IllegalStateException(what, e);
    }
  }
}

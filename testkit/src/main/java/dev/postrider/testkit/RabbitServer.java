package dev.postrider.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A private RabbitMQ broker for tests, from the installed package {@code rabbitmq-server}: its own
 * data, ports, node name and port mapper. It can be killed, frozen and restarted on the same data.
 * It dies with this process however that ends, because its shell waits for our end of a pipe.
 * Thread-safe.
 */
public final class RabbitServer implements AutoCloseable {
  private static final Path PROGRAMS = Path.of("/usr/lib/rabbitmq/bin");
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final Duration STOP_LIMIT = Duration.ofMinutes(1);

  /**
   * The group's leader reads until our end closes, then takes the whole group with it. The port
   * mapper comes first: a node that finds none starts one that outlives it.
   */
  private static final String GUARD =
      """
      epmd </dev/null >/dev/null 2>&1 &
      tries=0
      until epmd -names >/dev/null 2>&1 || [ $((tries += 1)) -gt 600 ]; do sleep 0.05; done
      "$0" </dev/null >"$1" 2>&1 &
      read -r unused
      kill -s KILL -- -$$
      """;

  private final RabbitHome home;
  private final Thread closeAtExit = new Thread(this::close, "rabbitmq-close");
  private @Nullable Process guard;
  private boolean closed;

  private RabbitServer(RabbitHome home) {
    this.home = home;
  }

  /** Starts a broker with its defaults; user and password are {@code guest}. */
  public static RabbitServer start() {
    return start(Map.of());
  }

  /**
   * Starts a broker with settings.
   *
   * @param settings lines of rabbitmq.conf; <code>${tlsPort}</code> stands for {@link #tlsPort}
   */
  public static RabbitServer start(Map<String, String> settings) {
    return start(settings, true);
  }

  /**
   * Starts a broker with settings.
   *
   * @param closeAtExit false for a program that stops its parts in an order of its own after
   *     Ctrl-C: shutdown hooks run at the same time. The broker then needs {@link #close}, and
   *     still dies with the process.
   */
  public static RabbitServer start(Map<String, String> settings, boolean closeAtExit) {
    requireInstalled(PROGRAMS);
    RabbitServer server = new RabbitServer(RabbitHome.create(settings));
    if (closeAtExit) {
      Runtime.getRuntime().addShutdownHook(server.closeAtExit);
    }
    try {
      server.restart();
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
    return server;
  }

  static void requireInstalled(Path programs) {
    if (!Files.isExecutable(programs.resolve("rabbitmq-server"))) {
      throw new IllegalStateException(
          "RabbitMQ is not installed: expected %s/rabbitmq-server. Install it (Debian: apt-get install rabbitmq-server)"
              .formatted(programs));
    }
  }

  public int port() {
    return home.port();
  }

  /** For a TLS listener, if the settings name one. */
  public int tlsPort() {
    return home.tlsPort();
  }

  public String address() {
    return "127.0.0.1:" + port();
  }

  /** As clients of any language take it. */
  public String uri() {
    return "amqp://guest:guest@" + address();
  }

  /** Kills the broker if it runs, and starts it again on the same data and port. */
  public synchronized void restart() {
    kill();
    try {
      ProcessBuilder builder =
          new ProcessBuilder(
              "setsid",
              "sh",
              "-c",
              GUARD,
              PROGRAMS.resolve("rabbitmq-server").toString(),
              home.console().toString());
      builder.environment().putAll(home.environment());
      guard =
          builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    await("start", START_LIMIT, () -> answers("127.0.0.1", port()));
  }

  /**
   * Returns when everything declared so far would survive {@link #kill}. The broker confirms a
   * declaration before it is on disk, and after a crash within the next seconds the queue is gone.
   */
  public void storeDeclarations() {
    control("eval", "mnesia:sync_log().");
  }

  /** Kills it with SIGKILL, as a crash would. */
  public synchronized void kill() {
    Process process = guard;
    if (process == null) {
      return;
    }
    guard = null;
    List<ProcessHandle> all = process.descendants().toList();
    try {
      process.getOutputStream().close(); // the guard reads its end, and takes all down
      if (!process.waitFor(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("RabbitMQ's guard does not end");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    await("die", STOP_LIMIT, () -> all.stream().noneMatch(ProcessHandle::isAlive));
  }

  /** Stops it in order. */
  public synchronized void stop() {
    ProcessHandle node = node();
    node.destroy();
    await("stop", STOP_LIMIT, () -> !node.isAlive());
    kill();
  }

  /** Stops it from running without closing anything, as a hung host would; until {@link #thaw}. */
  public synchronized void freeze() {
    signal("-STOP");
  }

  public synchronized void thaw() {
    signal("-CONT");
  }

  private void signal(String signal) {
    run(List.of("kill", signal, Long.toString(node().pid())));
  }

  private ProcessHandle node() {
    Process process = guard;
    if (process == null) {
      throw new IllegalStateException("RabbitMQ does not run");
    }
    return process
        .descendants()
        .filter(child -> child.info().command().orElse("").endsWith("beam.smp"))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("RabbitMQ's node does not run"));
  }

  /** Runs rabbitmqctl against this broker and returns what it printed. */
  public String control(String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(PROGRAMS.resolve("rabbitmqctl").toString());
    command.add("-q");
    command.addAll(List.of(arguments));
    return run(command);
  }

  private String run(List<String> command) {
    try {
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.environment().putAll(home.environment());
      Process process = builder.start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int exit = process.waitFor();
      if (exit != 0) {
        throw new IllegalStateException(String.join(" ", command) + " failed: " + output);
      }
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for " + command.get(0), e);
    }
  }

  /** Whether it speaks AMQP: it answers the protocol header with its first frame. */
  static boolean answers(String host, int port) {
    try (Socket socket = new Socket()) {
      socket.setSoTimeout(1000);
      socket.connect(new InetSocketAddress(host, port), 1000);
      socket.getOutputStream().write(new byte[] {'A', 'M', 'Q', 'P', 0, 0, 9, 1});
      return socket.getInputStream().read() == 1;
    } catch (IOException e) {
      return false;
    }
  }

  private void await(String what, Duration limit, BooleanSupplier done) {
    long end = System.nanoTime() + limit.toNanos();
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "RabbitMQ did not " + what + " within " + limit.toSeconds() + " s: " + home.log());
      }
      LockSupport.parkNanos(20_000_000);
    }
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    kill();
    home.delete();
    try {
      Runtime.getRuntime().removeShutdownHook(closeAtExit);
    } catch (IllegalStateException shuttingDown) {
      // The hook is what runs now.
    }
  }
}

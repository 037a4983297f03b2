package dev.postrider.embedded;

import io.zonky.test.db.postgres.util.LinuxUtils;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A data directory and the PostgreSQL programs that act on it.
 *
 * <p>The programs are run here rather than by zonky's own launcher, because that one always passes
 * {@code -F}, gives a stop five seconds before it deletes the data, and cannot restart or crash.
 *
 * <p>Not thread-safe: {@link EmbeddedServer} serialises the calls.
 */
final class PostgresCluster {

  private static final String WAIT_SECONDS = "60";
  private static final String PARAMETERS_FILE = "postrider.conf";

  private final Path home;
  private final Path data;
  private final Map<String, String> parameters;
  private final ServerPassword password;

  PostgresCluster(Path home, Path data, Map<String, String> parameters) {
    this.home = home;
    this.data = data;
    this.parameters = Map.copyOf(parameters);
    this.password = ServerPassword.of(data);
  }

  Path dataDirectory() {
    return data;
  }

  ServerPassword password() {
    return password;
  }

  boolean isRunning() {
    return postmaster().isPresent();
  }

  void start() {
    try {
      if (!Files.exists(data.resolve("PG_VERSION"))) {
        initialise();
      }
      password.read(); // without it nobody could connect
      Files.writeString(data.resolve(PARAMETERS_FILE), settings());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Path log = data.resolve("server.log");
    try {
      pgCtl("start", "-w", "-t", WAIT_SECONDS, "-l", log.toString());
    } catch (IllegalStateException e) {
      throw new IllegalStateException("PostgreSQL did not start:\n" + tail(log), e);
    }
  }

  void stop(String mode) {
    pgCtl("stop", "-w", "-t", WAIT_SECONDS, "-m", mode);
  }

  void kill() {
    ProcessHandle postmaster = postmaster().orElseThrow();
    List<ProcessHandle> all =
        Stream.concat(Stream.of(postmaster), postmaster.descendants()).toList();
    all.forEach(ProcessHandle::destroyForcibly);
    CompletableFuture<?>[] exits =
        all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(exits).orTimeout(30, TimeUnit.SECONDS).join();
  }

  void delete() {
    deleteTree(data);
  }

  static void deleteTree(Path directory) {
    try {
      Files.walkFileTree(directory, new Deletion());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes files as it meets them. A server with many databases has too many to list first. */
  private static final class Deletion extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    /** The server may have removed the file since. */
    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
      if (e instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw e;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e)
        throws IOException {
      if (e != null) {
        throw e;
      }
      Files.deleteIfExists(directory);
      return FileVisitResult.CONTINUE;
    }
  }

  private void initialise() throws IOException {
    String secret = ServerPassword.random();
    Path given = Files.createTempFile("postrider-initdb", ".password"); // mode 0600
    try {
      Files.writeString(given, secret + "\n");
      run(
          "initdb",
          "-D",
          data.toString(),
          "-U",
          "postgres",
          "-A",
          "scram-sha-256",
          "--pwfile",
          given.toString(),
          "-E",
          "UTF8",
          "--no-locale");
    } finally {
      Files.delete(given);
    }
    password.keep(secret);
    Files.writeString(
        data.resolve("postgresql.conf"),
        "\ninclude_if_exists = '" + PARAMETERS_FILE + "'\n",
        StandardOpenOption.APPEND);
  }

  /** A file, not the command line: values need no shell quoting, and ALTER SYSTEM still wins. */
  private String settings() {
    return "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"
        + parameters.entrySet().stream()
            .map(e -> e.getKey() + " = '" + e.getValue().replace("'", "''") + "'\n")
            .sorted()
            .collect(Collectors.joining());
  }

  /**
   * The first line of {@code postmaster.pid} is the server's process id; a crash leaves the file.
   */
  private Optional<ProcessHandle> postmaster() {
    Path pidFile = data.resolve("postmaster.pid");
    if (!Files.exists(pidFile)) {
      return Optional.empty();
    }
    try (Stream<String> lines = Files.lines(pidFile)) {
      return lines
          .findFirst()
          .map(line -> Long.parseLong(line.strip()))
          .flatMap(ProcessHandle::of)
          .filter(ProcessHandle::isAlive)
          .filter(process -> process.info().command().orElse("postgres").contains("postgres"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void pgCtl(String action, String... arguments) {
    List<String> all = new ArrayList<>(List.of(action, "-D", data.toString()));
    all.addAll(List.of(arguments));
    run("pg_ctl", all.toArray(String[]::new));
  }

  private void run(String program, String... arguments) {
    List<String> command = new ArrayList<>();
    if (LinuxUtils.isUnshareAvailable()) {
      // PostgreSQL refuses to run as root: a user namespace makes root look like another user.
      command.addAll(List.of("unshare", "-U"));
    }
    command.add(home.resolve("bin").resolve(program).toString());
    command.addAll(List.of(arguments));
    try {
      // Not a pipe: on Windows the server would inherit it and keep it open.
      Path output = Files.createTempFile("postrider-" + program, ".log");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        int exit = process.waitFor();
        if (exit != 0) {
          throw new IllegalStateException(
              String.join(" ", command) + " failed (" + exit + "):\n" + tail(output));
        }
      } finally {
        Files.deleteIfExists(output);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for " + program, e);
    }
  }

  private static String tail(Path file) {
    try {
      List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
    } catch (IOException e) {
      return "(" + file + " is unreadable: " + e + ")";
    }
  }
}

package dev.postrider.cli.command;

import dev.postrider.embedded.EmbeddedServer;
import dev.postrider.embedded.OwnerOnly;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URLEncoder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The PostgreSQL that {@code up} runs, and the note by which other commands find it. The data
 * belong to one process at a time: a lock that ends with the process sees to it. Used by one
 * thread.
 */
final class OwnPostgres implements AutoCloseable {
  private static final int USUAL_PORT = 15_432;
  private static final String LOCK = "lock";

  /** Files that a folder of this kind may begin with. */
  private static final List<String> OWN = List.of(LOCK, "data", "up.json");

  private final FileChannel lock;
  private final EmbeddedServer server;
  private final UpFile note = UpFile.here();

  private OwnPostgres(FileChannel lock, EmbeddedServer server) {
    this.lock = lock;
    this.server = server;
  }

  /**
   * Starts it, on the data that are there or on none.
   *
   * @param folder for everything that only its owner may read
   * @param port null for the usual one, or any other if that is taken
   */
  static OwnPostgres start(Path folder, @Nullable Integer port) throws IOException {
    requireNoOtherUse(folder);
    OwnerOnly.folder(folder);
    OwnerOnly.folder(UpFile.DIRECTORY);
    FileChannel lock = lock(folder);
    try {
      EmbeddedServer server =
          EmbeddedServer.builder()
              .dataDirectory(data(folder.toAbsolutePath()))
              .port(port == null ? usualPort() : port)
              .closeAtExit(false) // the relay has to finish first
              .start();
      return new OwnPostgres(lock, server);
    } catch (RuntimeException e) {
      lock.close();
      throw new Failure(ExitCode.TROUBLE, String.valueOf(e.getMessage()));
    }
  }

  /** PostgreSQL's part of the folder. */
  static Path data(Path folder) {
    return folder.resolve("data");
  }

  /** The folder is closed to others, so it must not be one that is there for something else. */
  private static void requireNoOtherUse(Path folder) throws IOException {
    if (!Files.isDirectory(folder) || OWN.stream().anyMatch(n -> Files.exists(folder.resolve(n)))) {
      return;
    }
    try (Stream<Path> files = Files.list(folder)) {
      if (files.findAny().isPresent()) {
        throw new Failure(
            ExitCode.TROUBLE,
            folder + " has other files; name a folder that is empty or does not exist");
      }
    }
  }

  private static FileChannel lock(Path folder) throws IOException {
    FileChannel channel =
        FileChannel.open(OwnerOnly.file(folder.resolve(LOCK)), StandardOpenOption.WRITE);
    @Nullable FileLock held = channel.tryLock();
    if (held == null) {
      channel.close();
      Optional<UpFile.Running> other = UpFile.here().read();
      throw new Failure(
          ExitCode.TROUBLE,
          "another ./postrider up runs on "
              + folder.toAbsolutePath().normalize()
              + other.map(running -> ", as process " + running.pid()).orElse(""));
    }
    return channel;
  }

  private static int usualPort() {
    try (ServerSocket socket = new ServerSocket(USUAL_PORT, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException taken) {
      return 0;
    }
  }

  /** The URL for {@code psql}; the password stays in its file. */
  String psqlUrl() {
    String file = URLEncoder.encode(server.passwordFile().toString(), StandardCharsets.UTF_8);
    return "postgresql://postgres@127.0.0.1:%d/postgres?passfile=%s"
        .formatted(server.port(), file.replace("+", "%20").replace("%2F", "/"));
  }

  String jdbcUrl() {
    return server.jdbcUrl();
  }

  /** From now on other commands find it. */
  void announce() throws IOException {
    note.write(new UpFile.Running(ProcessHandle.current().pid(), jdbcUrl()));
  }

  @Override
  public void close() throws IOException {
    note.delete();
    server.close();
    lock.close();
  }
}

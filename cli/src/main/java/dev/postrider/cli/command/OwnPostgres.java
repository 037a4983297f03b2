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
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The PostgreSQL that {@code up} runs, and the note by which other commands find it. The data
 * belong to one process at a time: a lock that ends with the process sees to it. Used by one
 * thread.
 */
final class OwnPostgres implements AutoCloseable {
  private static final int USUAL_PORT = 15_432;

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
   * @param port null for the usual one, or any other if that is taken
   */
  static OwnPostgres start(Path data, @Nullable Integer port) throws IOException {
    Path folder = data.toAbsolutePath();
    Files.createDirectories(folder.resolveSibling("."));
    OwnerOnly.folder(UpFile.DIRECTORY);
    FileChannel lock = lock(folder);
    try {
      EmbeddedServer server =
          EmbeddedServer.builder()
              .dataDirectory(folder)
              .port(port == null ? usualPort() : port)
              .closeAtExit(false) // the relay has to finish first
              .start();
      return new OwnPostgres(lock, server);
    } catch (RuntimeException e) {
      lock.close();
      throw new Failure(ExitCode.TROUBLE, String.valueOf(e.getMessage()));
    }
  }

  private static FileChannel lock(Path folder) throws IOException {
    FileChannel channel =
        FileChannel.open(
            folder.resolveSibling(folder.getFileName() + ".lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE);
    @Nullable FileLock held = channel.tryLock();
    if (held == null) {
      channel.close();
      Optional<UpFile.Running> other = UpFile.here().read();
      throw new Failure(
          ExitCode.TROUBLE,
          "another ./postrider up runs on "
              + folder
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

package dev.postrider.testing;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A PgBouncer in transaction mode with a single server connection, so that all clients share it.
 */
public final class Pooler implements AutoCloseable {
  private final Path directory;
  private final Process process;
  private final String url;

  private Pooler(Path directory, Process process, String url) {
    this.directory = directory;
    this.process = process;
    this.url = url;
  }

  /** Stands before this database. Needs the program {@code pgbouncer}. */
  public static Pooler before(TestDatabase database) throws IOException {
    Path directory = Files.createTempDirectory("postrider-pgbouncer");
    int port = freePort();
    String name = database.value("select current_database()");
    Path config = directory.resolve("pgbouncer.ini");
    Files.writeString(
        config,
        """
        [databases]
        %1$s = host=127.0.0.1 port=%2$s dbname=%1$s user=postgres password=%4$s
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = %3$d
        unix_socket_dir =
        auth_type = any
        pool_mode = transaction
        default_pool_size = 1
        ignore_startup_parameters = extra_float_digits
        """
            .formatted(name, database.value("show port"), port, password(database)));
    Process process =
        new ProcessBuilder(command(directory, config))
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("pgbouncer.log").toFile())
            .start();
    // Before 1.21 it does not know prepared statements.
    String url =
        "jdbc:postgresql://127.0.0.1:%d/%s?user=postgres&prepareThreshold=0".formatted(port, name);
    Pooler pooler = new Pooler(directory, process, url);
    try {
      await("pgbouncer").atMost(Duration.ofSeconds(20)).until(() -> listens(port));
      return pooler;
    } catch (RuntimeException e) {
      pooler.close();
      throw e;
    }
  }

  private static String password(TestDatabase database) {
    return PGProperty.PASSWORD.getOrDefault(Driver.parseURL(database.jdbcUrl(), null));
  }

  /** It refuses to run as root, and becomes somebody else if told so. */
  private static List<String> command(Path directory, Path config) throws IOException {
    Path debian = Path.of("/usr/sbin/pgbouncer"); // not on everyone's path
    List<String> command = new ArrayList<>();
    command.add(Files.isExecutable(debian) ? debian.toString() : "pgbouncer");
    if ("root".equals(System.getProperty("user.name"))) {
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
      command.addAll(List.of("-u", "nobody"));
    }
    command.add(config.toString());
    return command;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static boolean listens(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException notYet) {
      return false;
    }
  }

  public DataSource dataSource() {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(url);
    return dataSource;
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    for (String file : List.of("pgbouncer.ini", "pgbouncer.log")) {
      Files.deleteIfExists(directory.resolve(file));
    }
    Files.deleteIfExists(directory);
  }
}

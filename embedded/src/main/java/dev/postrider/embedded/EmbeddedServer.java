package dev.postrider.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A running PostgreSQL server that belongs to this process.
 *
 * <p>It is as durable as a production server: {@code fsync} and {@code synchronous_commit} are on
 * unless a parameter says otherwise. It listens on the loopback address only. The superuser {@code
 * postgres} has a random password, so other users of the machine cannot connect.
 *
 * <p>Works as root on Linux too, where {@code unshare} gives the server a user of its own.
 *
 * <p>Thread-safe: lifecycle methods exclude each other.
 */
public final class EmbeddedServer implements AutoCloseable {

  private final PostgresCluster cluster;
  private final int port;
  private final boolean temporary;
  private final Thread closeAtExit = new Thread(this::closeNow, "embedded-postgres-close");
  private volatile String password = "";
  private boolean closed;

  private EmbeddedServer(PostgresCluster cluster, int port, boolean temporary) {
    this.cluster = cluster;
    this.port = port;
    this.temporary = temporary;
  }

  /** Starts PostgreSQL 18 on a free port with a temporary data directory. */
  public static EmbeddedServer start() {
    return builder().start();
  }

  /** Returns a builder whose every option is optional. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns the URL of the database {@code postgres}, user and password included. */
  public String jdbcUrl() {
    return jdbcUrl("postgres");
  }

  /** Returns the URL of a database on this server, user and password included. */
  public String jdbcUrl(String database) {
    return "jdbc:postgresql://127.0.0.1:%d/%s?user=postgres&password=%s"
        .formatted(port, database, password);
  }

  /** Returns the file with the password, for the connection parameter {@code passfile} of libpq. */
  public Path passwordFile() {
    return cluster.password().file();
  }

  /** Returns the port, which stays the same across restarts. */
  public int port() {
    return port;
  }

  /** Returns the directory that holds the data and {@code server.log}. */
  public Path dataDirectory() {
    return cluster.dataDirectory();
  }

  /** Returns whether the server process is alive. */
  public synchronized boolean isRunning() {
    return cluster.isRunning();
  }

  /** Stops in order: disconnects clients and writes a checkpoint. Does nothing when stopped. */
  public synchronized void stop() {
    if (cluster.isRunning()) {
      cluster.stop("fast");
    }
  }

  /** Stops without a checkpoint, so that the next start recovers from the write-ahead log. */
  public synchronized void stopImmediately() {
    if (cluster.isRunning()) {
      cluster.stop("immediate");
    }
  }

  /** Kills the server and all its backends with SIGKILL, as a crash would. */
  public synchronized void kill() {
    if (cluster.isRunning()) {
      cluster.kill();
    }
  }

  /** Stops the server if it runs, then starts it again with the same data and port. */
  public synchronized void restart() {
    if (closed) {
      throw new IllegalStateException("the server on port " + port + " is closed");
    }
    stop();
    cluster.start();
  }

  /** Stops the server for good and deletes the data directory if it was temporary. */
  @Override
  public void close() {
    if (closeNow()) {
      try {
        Runtime.getRuntime().removeShutdownHook(closeAtExit);
      } catch (IllegalStateException shuttingDown) {
        // The hook is about to run, or has run, and finds nothing to do.
      }
    }
  }

  private synchronized boolean closeNow() {
    if (closed) {
      return false;
    }
    closed = true;
    if (temporary) {
      stopImmediately(); // The data is about to go: a checkpoint would be wasted.
      cluster.delete();
    } else {
      stop();
    }
    return true;
  }

  private EmbeddedServer launch(boolean atExit) throws IOException {
    if (atExit) {
      Runtime.getRuntime().addShutdownHook(closeAtExit);
    }
    try {
      stop(); // one that a killed process left behind has the data, and another port
      cluster.start();
      password = cluster.password().read();
      return this;
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Options of a server. Not thread-safe. */
  public static final class Builder {

    private final Map<String, String> parameters = new LinkedHashMap<>();
    private @Nullable Path dataDirectory;
    private @Nullable Path binaries;
    private int port;
    private boolean closeAtExit = true;

    private Builder() {
      parameters.put("fsync", "on");
      parameters.put("synchronous_commit", "on");
      parameters.put("full_page_writes", "on");
      parameters.put("timezone", "UTC");
      parameters.put("log_timezone", "UTC");
      parameters.put("max_connections", "200");
    }

    /**
     * Keeps the data here; a cluster already present is reused, and a server that still runs on it,
     * left behind by a process that was killed, is stopped first. Otherwise: temporary.
     */
    public Builder dataDirectory(Path directory) {
      this.dataDirectory = directory;
      return this;
    }

    /** Listens on this port; 0, the default, means any free one. */
    public Builder port(int port) {
      if (port < 0 || port > 65_535) {
        throw new IllegalArgumentException("port: expected 0 to 65535, was " + port);
      }
      this.port = port;
      return this;
    }

    /**
     * Whether the server is closed when the JVM exits. It is by default; not for those who have
     * something to finish on it in a shutdown hook of their own, and then close it themselves.
     */
    public Builder closeAtExit(boolean value) {
      this.closeAtExit = value;
      return this;
    }

    /** Sets a server parameter as in {@code postgresql.conf}; the value needs no quotes. */
    public Builder parameter(String name, String value) {
      parameters.put(name, value);
      return this;
    }

    /** Sets several server parameters. */
    public Builder parameters(Map<String, String> values) {
      parameters.putAll(values);
      return this;
    }

    /**
     * Runs other binaries than those on the class path: a {@code .txz} archive, a jar of {@code
     * embedded-postgres-binaries}, or a directory of such jars from which this platform's is taken.
     */
    public Builder binaries(Path location) {
      this.binaries = location;
      return this;
    }

    /** Starts the server and returns when it accepts connections. */
    public EmbeddedServer start() {
      try {
        int listenPort = port == 0 ? freePort() : port;
        boolean temporary = dataDirectory == null;
        Path home = PostgresBinaries.unpacked(binaries);
        Path data =
            dataDirectory == null ? Files.createTempDirectory("postrider-data") : dataDirectory;
        parameters.put("port", Integer.toString(listenPort));
        PostgresCluster cluster = new PostgresCluster(home, data.toAbsolutePath(), parameters);
        return new EmbeddedServer(cluster, listenPort, temporary).launch(closeAtExit);
      } catch (IOException e) {
        String reason = e instanceof FileSystemException ? e.toString() : e.getMessage();
        throw new UncheckedIOException("PostgreSQL cannot be started: " + reason, e);
      }
    }

    /**
     * Picks a port below the range systems use for outgoing connections, so that no client's socket
     * can take the port while the server is down for a restart.
     */
    private static int freePort() {
      return new SplittableRandom()
          .ints(100, 15_000, 32_000)
          .filter(Builder::isFree)
          .findFirst()
          .orElseThrow(
              () -> new IllegalStateException("no free port from 15000 to 32000 in 100 tries"));
    }

    private static boolean isFree(int port) {
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.isBound();
      } catch (IOException taken) {
        return false;
      }
    }
  }
}

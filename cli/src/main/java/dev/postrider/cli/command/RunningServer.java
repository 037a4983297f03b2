package dev.postrider.cli.command;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.cli.config.Config;
import dev.postrider.cli.doctor.CheckedDatabase;
import dev.postrider.cli.doctor.Doctor;
import dev.postrider.internal.text.LogLine;
import dev.postrider.message.PostriderException;
import dev.postrider.relay.Relay;
import dev.postrider.server.Metrics;
import dev.postrider.server.Server;
import dev.postrider.server.ServerConfig;
import dev.postrider.server.console.Warning;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server with its pool of connections. Closed once, by the thread that started it. */
final class RunningServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RunningServer.class);

  /**
   * Less than a scrape waits, so that metrics are answered while the database is away. A call that
   * waits for a connection holds a thread.
   */
  private static final long CONNECT_MILLIS = 2_000;

  /** One for the backlog, one for tokens. */
  private static final int MONITOR_CONNECTIONS = 2;

  private final HikariDataSource pool;
  private final Server server;

  private RunningServer(HikariDataSource pool, Server server) {
    this.pool = pool;
    this.server = server;
  }

  /**
   * Starts it.
   *
   * @param relay the one of this process, if there is one
   */
  static RunningServer start(
      Config config,
      DataSource dataSource,
      DataSource direct,
      Metrics metrics,
      @Nullable Relay relay) {
    HikariDataSource pool = pool(config.server().database(), dataSource);
    try {
      Server.Builder builder =
          Server.builder(pool)
              .databaseConnections(config.server().database())
              .schema(config.schema())
              .config(config.server().config())
              .metrics(metrics)
              .direct(direct)
              .doctor(() -> warnings(new CheckedDatabase(pool, direct, config.schema())))
              .streams(config.server().streams());
      return new RunningServer(
          pool, (relay == null ? builder : builder.relay(relay::status)).start());
    } catch (RuntimeException e) {
      pool.close();
      throw e instanceof PostriderException
          ? e
          : new Failure(ExitCode.TROUBLE, "the server cannot start: " + e.getMessage());
    }
  }

  private static List<Warning> warnings(CheckedDatabase checked) throws SQLException {
    return Doctor.troubles(checked).stream()
        .map(found -> new Warning(found.check(), found.text(), found.advice()))
        .toList();
  }

  /** Starts the server of a relay: health and metrics, and nothing else. */
  static RunningServer startMonitor(
      Config config, DataSource dataSource, Metrics metrics, Relay relay) {
    HikariDataSource pool = pool(MONITOR_CONNECTIONS, dataSource);
    try {
      return new RunningServer(
          pool,
          Server.builder(pool)
              .schema(config.schema())
              .config(config.monitor().config())
              .metrics(metrics)
              .relay(relay::status)
              .monitorOnly()
              .start());
    } catch (RuntimeException e) {
      pool.close();
      throw e instanceof PostriderException
          ? e
          : new Failure(
              ExitCode.TROUBLE,
              "the relay's monitor cannot start: %s\n".formatted(e.getMessage())
                  + "Each relay of a machine needs its own port: set postrider.relay.monitor.port"
                  + " (0 takes any), or postrider.relay.monitor.enabled=false.");
    }
  }

  private static HikariDataSource pool(int size, DataSource dataSource) {
    HikariConfig pool = new HikariConfig();
    pool.setDataSource(dataSource);
    pool.setPoolName("postrider-server");
    pool.setMaximumPoolSize(size);
    pool.setMinimumIdle(1);
    pool.setConnectionTimeout(CONNECT_MILLIS);
    pool.setInitializationFailTimeout(-1); // a server that waits for its database says so itself
    return new HikariDataSource(pool);
  }

  /** The same, on any free port if nobody chose the usual one and it is taken. */
  static RunningServer startSomewhere(
      Config config,
      DataSource dataSource,
      DataSource direct,
      Metrics metrics,
      @Nullable Relay relay) {
    try {
      return start(config, dataSource, direct, metrics, relay);
    } catch (Failure taken) {
      if (config.server().port() != ServerConfig.DEFAULT.port()) {
        throw taken;
      }
      Config anywhere = config.withServer(config.server().withPort(0));
      return start(anywhere, dataSource, direct, metrics, relay);
    }
  }

  String url() {
    return server.url();
  }

  String consoleUrl() {
    return server.consoleUrl();
  }

  /** A link to the console that signs in with this token, once. */
  String signInLink(String secret) {
    return server.signInLink(secret);
  }

  /** A connection that does not end in time is no reason not to end the rest in order. */
  @Override
  public void close() {
    try {
      server.close();
    } catch (RuntimeException e) {
      log.warn("{}", LogLine.of("server_stopped_late").put("error", e.getMessage()));
    } finally {
      pool.close();
    }
  }
}

package dev.postrider.cli.command;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.ServerSettings;
import dev.postrider.message.PostriderException;
import dev.postrider.relay.Relay;
import dev.postrider.server.Metrics;
import dev.postrider.server.Server;
import dev.postrider.server.ServerConfig;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server with its pool of connections. Closed once, by the thread that started it. */
final class RunningServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RunningServer.class);
  private static final long CONNECT_MILLIS = 10_000;

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
    HikariDataSource pool = pool(config.server(), dataSource);
    try {
      Server.Builder builder =
          Server.builder(pool)
              .schema(config.schema())
              .config(config.server().config())
              .metrics(metrics)
              .direct(direct)
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

  private static HikariDataSource pool(ServerSettings settings, DataSource dataSource) {
    HikariConfig pool = new HikariConfig();
    pool.setDataSource(dataSource);
    pool.setPoolName("postrider-server");
    pool.setMaximumPoolSize(settings.database());
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

  /** A connection that does not end in time is no reason not to end the rest in order. */
  @Override
  public void close() {
    try {
      server.close();
    } catch (RuntimeException e) {
      log.warn("event=server_stopped_late error=\"{}\"", e.getMessage());
    } finally {
      pool.close();
    }
  }
}

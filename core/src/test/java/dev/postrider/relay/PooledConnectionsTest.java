package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.schema.Schema;
import dev.postrider.stream.StreamDestination;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A relay on a real HikariCP: what it takes, what is logged, what it gives back. */
class PooledConnectionsTest {
  @AutoClose private final Post post = new Post();
  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
            warnings.add(event.getFormattedMessage());
          }
        }
      };

  @BeforeEach
  void listen() {
    appender.start();
    root.addAppender(appender);
  }

  @AfterEach
  void stopListening() {
    root.detachAppender(appender);
  }

  private HikariDataSource pool(long leakMs) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(post.database.jdbcUrl());
    config.setLeakDetectionThreshold(leakMs);
    return new HikariDataSource(config);
  }

  private Relay start(HikariDataSource pool) {
    Relay relay =
        post.start(
            Relay.builder(pool)
                .config(Post.config())
                .destination("here", post.taking())
                .route("shop", "*", "here"));
    await().until(() -> relay.status().listening());
    post.send("orders", "k", 1);
    post.untilEmpty();
    return relay;
  }

  private static int held(HikariDataSource pool) {
    return pool.getHikariPoolMXBean().getActiveConnections();
  }

  @Test
  void itHoldsFourConnectionsAndGivesThemBackInOrder() throws Exception {
    try (HikariDataSource pool = pool(0)) {
      for (int round = 0; round < 5; round++) {
        try (Relay relay = start(pool)) {
          await().until(() -> held(pool) == 4);
          assertThat(relay.status().running()).isTrue();
        }
        assertThat(held(pool)).isZero();
      }
      assertThat(listening(pool)).as("sessions that still listen").isEmpty();
    }
    assertThat(warnings).isEmpty();
  }

  @Test
  void aStreamDestinationGivesItsConnectionBackInOrder() {
    try (HikariDataSource pool = pool(0)) {
      for (int round = 0; round < 3; round++) {
        try (Relay relay =
            post.start(
                Relay.builder(pool)
                    .config(Post.config())
                    .destination("stream", new StreamDestination(pool, Schema.DEFAULT))
                    .route("shop", "*", "stream"))) {
          await().until(() -> relay.status().listening());
          post.send("orders", null);
          post.untilEmpty();
          assertThat(held(pool)).isEqualTo(5);
        }
        assertThat(held(pool)).isZero();
      }
    }
    assertThat(warnings).isEmpty();
  }

  /** What the sessions of the pool listen to, each of them. */
  private static List<String> listening(HikariDataSource pool) throws Exception {
    List<String> channels = new ArrayList<>();
    List<Connection> all = new ArrayList<>();
    try {
      for (int i = 0; i < pool.getMaximumPoolSize(); i++) {
        Connection connection = pool.getConnection();
        all.add(connection);
        try (Statement statement = connection.createStatement();
            ResultSet rows = statement.executeQuery("select pg_listening_channels()")) {
          while (rows.next()) {
            channels.add(rows.getString(1));
          }
        }
      }
    } finally {
      for (Connection connection : all) {
        connection.close();
      }
    }
    return channels;
  }

  @Test
  void leakDetectionNamesEachConnectionOnce() {
    try (HikariDataSource pool = pool(2_000);
        Relay relay = start(pool)) {
      await().until(() -> warnings.size() >= 4);
      assertThat(warnings)
          .hasSize(4)
          .allMatch(text -> text.contains("Connection leak detection triggered"));
      assertThat(relay.status().running()).isTrue();
    }
  }
}

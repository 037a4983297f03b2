package dev.postrider.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.embedded.EmbeddedServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** One connection that somebody keeps must be seen, however full the pool is. */
class ConnectionsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static HikariDataSource pool(EmbeddedServer server) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(server.jdbcUrl());
    config.setMaximumPoolSize(4);
    return new HikariDataSource(config);
  }

  private static long soon() {
    return System.nanoTime() + 50_000_000;
  }

  @Test
  void aKeptConnectionIsHeldAndWasNotReturned() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start();
        HikariDataSource pool = pool(server)) {
      Connections connections = new Connections(pool);
      try (Connection kept = pool.getConnection()) {
        connections.lookUntil(soon());
        assertThat(connections.held()).isEqualTo(1);
        assertThat(Connections.notReturned(pool, Duration.ZERO))
            .containsExactly("1 connections were not returned");
        assertThat(kept.isValid(30)).isTrue();
      }
      connections.lookUntil(soon());
      assertThat(connections.held()).isZero();
      assertThat(Connections.notReturned(pool, PATIENCE)).isEmpty();
    }
  }

  @Test
  void anOpenTransactionAndASessionThatIsLeftAreSeen() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start()) {
      try (HikariDataSource pool = pool(server);
          Connection left = DriverManager.getConnection(server.jdbcUrl());
          Statement statement = left.createStatement()) {
        left.setAutoCommit(false);
        statement.execute("select 1");
        assertThat(Connections.openTransactions(pool, Duration.ZERO)).isEqualTo(1);
        assertThat(Connections.openTransactions(pool, Duration.ofDays(1))).isZero();
        left.rollback();
        assertThat(Connections.openTransactions(pool, Duration.ZERO)).isZero();
        pool.close();
        assertThat(Connections.sessionsLeft(server.jdbcUrl(), Duration.ofMillis(100)))
            .containsExactly("1 sessions are left");
      }
      assertThat(Connections.sessionsLeft(server.jdbcUrl(), PATIENCE)).isEmpty();
    }
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.jdbc.HeldConnection;
import dev.postrider.message.PostriderException;
import dev.postrider.testing.Pooler;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Behind a pooler that gives the server connection to somebody else after each transaction. */
@Tag("EN-15")
class PoolerTest {
  private final Post post = new Post();
  private Pooler pooler;

  @BeforeEach
  void startPooler() throws Exception {
    pooler = Pooler.before(post.database);
  }

  @AfterEach
  void stop() throws Exception {
    post.close();
    pooler.close();
  }

  @Test
  void aRelayCarriesThroughIt() throws Exception {
    post.start(
        Relay.builder(pooler.dataSource())
            .direct(post.database.dataSource())
            .config(Post.config())
            .destination("here", HandlerDestination.inline(post::take))
            .route("shop", "*", "here"));
    post.send("orders", "k", 50);
    post.send("orders", null, 50);
    await().until(() -> post.delivered.size() == 100);
    post.untilEmpty();
    assertThat(post.sequencesOf("k")).isSorted().hasSize(50);
    assertThat(settingsOfTheNextClient()).isEmpty();
  }

  @Test
  void nothingIsLeftInTheSessionForOthers() throws Exception {
    try (HeldConnection held = held(Duration.ofSeconds(10))) {
      Connection connection = held.get();
      run(connection, "select 1");
      assertThat(settingsOfTheNextClient()).as("after a statement").isEmpty();
      connection.setAutoCommit(false);
      run(connection, "select 1");
      connection.commit();
      connection.setAutoCommit(true);
      assertThat(settingsOfTheNextClient()).as("after a transaction").isEmpty();
    }
    assertThat(settingsOfTheNextClient()).as("after the end").isEmpty();
  }

  @Test
  void aStatementStillHasItsTimeLimit() throws Exception {
    try (HeldConnection held = held(Duration.ofMillis(500))) {
      Connection connection = held.get();
      assertThatThrownBy(() -> run(connection, "select pg_sleep(60)"))
          .isInstanceOfSatisfying(
              SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("57014"));
    }
  }

  @Test
  void aTransactionThatIsLeftOpenStillEnds() throws Exception {
    try (HeldConnection held = held(Duration.ofMillis(500))) {
      Connection connection = held.get();
      connection.setAutoCommit(false);
      run(connection, "lock table postrider.engine in access exclusive mode");
      await("the server ends it").until(() -> locks() == 0);
    }
  }

  @Test
  void anotherIsolationThanReadCommittedIsRefused() {
    post.database.execute(
        "do $$ begin execute format('alter database %I set default_transaction_isolation ="
            + " ''repeatable read''', current_database()); end $$");
    try (HeldConnection held = held(Duration.ofSeconds(10))) {
      assertThatThrownBy(held::get)
          .isInstanceOf(PostriderException.class)
          .hasMessageContaining("repeatable read")
          .hasMessageContaining("default_transaction_isolation");
    }
  }

  @Test
  void aDirectConnectionHasItsLimitsInTheSession() throws Exception {
    Duration limit = Duration.ofSeconds(10);
    try (HeldConnection held =
        new HeldConnection(post.database.dataSource(), limit, connection -> {})) {
      assertThat(settings(held.get()))
          .contains("statement_timeout", "idle_in_transaction_session_timeout");
    }
  }

  private HeldConnection held(Duration limit) {
    return new HeldConnection(pooler.dataSource(), limit, connection -> {});
  }

  private long locks() {
    return post.database.count(
        "select count(*) from pg_locks where relation = 'postrider.engine'::regclass"
            + " and mode = 'AccessExclusiveLock'");
  }

  /** What somebody else finds changed in the session that the pooler hands out. */
  private List<String> settingsOfTheNextClient() throws SQLException {
    try (Connection other = pooler.dataSource().getConnection()) {
      return settings(other);
    }
  }

  /** The settings that were made by SET, apart from what the driver sets as it connects. */
  private static List<String> settings(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                """
                select name from pg_settings where source = 'session' and name in (
                  'statement_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout',
                  'synchronous_commit', 'default_transaction_isolation', 'search_path')
                """)) {
      List<String> names = new ArrayList<>();
      while (rows.next()) {
        names.add(rows.getString(1));
      }
      return names;
    }
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.embedded.EmbeddedServer;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Producers whose transactions are prepared, as a transaction manager does it. */
@Tag("EN-22")
@Timeout(60)
class TwoPhaseCommitTest {
  private static EmbeddedServer server;

  @AutoClose private final Post post = new Post(TestDatabase.on(server));

  @BeforeAll
  static void startServer() {
    server =
        EmbeddedServer.builder()
            .parameter("fsync", "off")
            .parameter("max_prepared_transactions", "10")
            .start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private Relay startAsleep(Duration pollInterval) {
    post.send("orders", null);
    Relay relay =
        post.start(
            post.builder()
                .config(Post.config().withPollInterval(pollInterval))
                .destination("here", post.taking())
                .route("shop", "*", "here"));
    await().until(() -> post.delivered.size() == 1 && relay.status().listening());
    post.untilEmpty();
    await().until(this::armed);
    return relay;
  }

  private boolean armed() {
    return post.database.count("select sum(postrider.bell(r)) from generate_series(0, 3) r") == 4;
  }

  @ParameterizedTest
  @ValueSource(strings = {"orders", "a-new-topic"})
  void worksInASessionThatDoesNotRing(String topic) throws Exception {
    startAsleep(Duration.ofSeconds(1));
    try (Connection connection = post.database.transaction();
        Statement statement = connection.createStatement()) {
      statement.execute("set postrider.notify = off");
      connection.commit();
      send(connection, topic, null);
      send(connection, topic, "k");
      new Outbox().enqueue(connection, List.of(message(topic, "k"), message(topic, null)));
      statement.execute("prepare transaction 'tx'");
      connection.commit();
      connection.setAutoCommit(true);
      assertThat(post.database.count("select count(*) from postrider.queue"))
          .as("nothing can be seen yet")
          .isZero();
      statement.execute("commit prepared 'tx'");
    }
    await().until(() -> post.delivered.size() == 5);
    assertThat(post.sequencesOf("k")).containsExactly(1L, 2L);
  }

  @Test
  void leavesNothingIfItIsRolledBack() throws Exception {
    try (Connection connection = post.database.transaction();
        Statement statement = connection.createStatement()) {
      statement.execute("set postrider.notify = off");
      send(connection, "orders", "k");
      statement.execute("prepare transaction 'tx'");
      connection.commit();
      connection.setAutoCommit(true);
      statement.execute("rollback prepared 'tx'");
    }
    assertThat(post.database.count("select count(*) from postrider.message")).isZero();
    assertThat(post.database.count("select count(*) from postrider.ordering_key")).isZero();
  }

  /** PostgreSQL says what is wrong, and nothing is written. */
  @Test
  void isRefusedInASessionThatRings() throws Exception {
    startAsleep(Duration.ofMinutes(1));
    try (Connection connection = post.database.transaction();
        Statement statement = connection.createStatement()) {
      send(connection, "orders", null);
      assertThatThrownBy(() -> statement.execute("prepare transaction 'tx'"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("cannot PREPARE a transaction that has executed")
          .hasMessageContaining("NOTIFY");
    }
    assertThat(post.database.count("select count(*) from pg_prepared_xacts")).isZero();
    assertThat(post.database.count("select count(*) from postrider.message")).isEqualTo(1);
  }

  private static NewMessage message(String topic, String key) {
    NewMessage.Builder message = NewMessage.to("shop", topic).json("{}");
    return (key == null ? message : message.key(key)).build();
  }

  private static void send(Connection connection, String topic, String key) throws SQLException {
    new Outbox().enqueue(connection, message(topic, key));
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class BrokenDatabaseTest {
  @AutoClose private final Post post = new Post();

  private Relay start(DataSource dataSource) {
    return post.start(
        Relay.builder(dataSource)
            .direct(post.database.dataSource())
            .listener(post.heard)
            .config(Post.config().withBatchSize(10))
            .destination("here", post.taking(), DestinationOptions.DEFAULT.withMaxInFlight(40))
            .route("shop", "*", "here"));
  }

  private void everythingArrives(List<UUID> sent) {
    post.untilEmpty();
    assertThat(new HashSet<>(post.deliveredIds())).containsExactlyInAnyOrderElementsOf(sent);
    assertThat(post.sequencesOf("k").stream().distinct()).isSorted();
  }

  @Test
  @Tag("EN-7")
  void connectionsThatBreakAreReplaced() {
    List<UUID> sent = new ArrayList<>(post.send("orders", "k", 300));
    sent.addAll(post.send("orders", null, 300));
    Relay relay = start(post.database.dataSource());
    for (int round = 1; round <= 3; round++) {
      int seen = 100 * round;
      await().until(() -> post.delivered.size() >= seen);
      post.database.execute(
          "select pg_terminate_backend(pid) from pg_stat_activity"
              + " where datname = current_database() and pid <> pg_backend_pid()");
    }
    everythingArrives(sent);
    await().until(() -> relay.status().listening());
    assertThat(post.heard.databaseFailures).contains("transient");
  }

  @Test
  @Tag("EN-7")
  void aLostAcknowledgementOfACommitLosesNothing() {
    List<UUID> sent = new ArrayList<>(post.send("orders", "k", 100));
    sent.addAll(post.send("orders", null, 100));
    AtomicInteger commits = new AtomicInteger();
    // The leases of claims whose answer is lost would hold for a minute, longer than this waits.
    start(
        Faulty.on(
            post.database.dataSource(),
            "commit",
            connection -> {
              connection.commit();
              if (commits.incrementAndGet() % 3 == 0) {
                connection.abort(Runnable::run);
                throw new SQLException("connection lost", "08006");
              }
            }));
    everythingArrives(sent);
    assertThat(commits.get()).as("at least one was lost").isGreaterThanOrEqualTo(3);
  }

  @Test
  void anExceptionOfTheDataSourceDoesNotEndTheRelay() {
    List<UUID> sent = post.send("orders", null, 50);
    AtomicInteger asked = new AtomicInteger();
    start(
        Faulty.source(
            () -> {
              if (asked.incrementAndGet() <= 6) {
                throw new IllegalStateException("pool is not ready");
              }
              return post.database.dataSource().getConnection();
            }));
    everythingArrives(sent);
  }

  @Test
  void aStricterIsolationByDefaultDoesNotGetInTheWay() {
    post.database.execute(
        "do $$ begin execute format('alter database %I set default_transaction_isolation ="
            + " serializable', current_database()); end $$");
    List<UUID> sent = new ArrayList<>(post.send("orders", "k", 100));
    sent.addAll(post.send("orders", null, 300));
    start(post.database.dataSource());
    start(post.database.dataSource());
    everythingArrives(sent);
    assertThat(post.heard.databaseFailures).isEmpty();
  }

  @Test
  void connectionsOfAPoolAreGivenBackAsTheyCame() throws Exception {
    post.send("orders", null, 5);
    List<Connection> given = new ArrayList<>();
    Relay relay =
        start(
            Faulty.source(
                () -> {
                  Connection real = post.database.dataSource().getConnection();
                  synchronized (given) {
                    given.add(real);
                  }
                  return Faulty.connection(real, "close", connection -> {});
                }));
    post.untilEmpty();
    relay.close();
    assertThat(given).isNotEmpty();
    for (Connection connection : given) {
      try (connection;
          var row = connection.createStatement().executeQuery("show statement_timeout")) {
        row.next();
        assertThat(row.getString(1)).isEqualTo("0");
        assertThat(connection.getAutoCommit()).isTrue();
        assertThat(connection.getNetworkTimeout()).isZero();
      }
    }
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.observe.RelayListener;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A pool that has no connection to give is like a database that is away: no thread ends. */
@Tag("OP-8")
class FullPoolTest implements RelayListener {
  private static final int SIZE = 6;

  @AutoClose private final Post post = new Post();
  private final List<String> retained = new CopyOnWriteArrayList<>();
  private final List<Exception> failed = new CopyOnWriteArrayList<>();
  private final List<String> kinds = new CopyOnWriteArrayList<>();

  @Override
  public void databaseFailed(String kind, Exception error) {
    kinds.add(kind);
  }

  @Override
  public void retained(String task, long count, Duration took) {
    retained.add(task);
  }

  @Override
  public void retentionFailed(String task, Exception error) {
    failed.add(error);
  }

  private HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(post.database.jdbcUrl());
    config.setMaximumPoolSize(SIZE);
    config.setConnectionTimeout(1_000);
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  private static List<Connection> takeAll(HikariDataSource pool) {
    List<Connection> taken = new ArrayList<>();
    await().ignoreExceptions().until(() -> taken.add(pool.getConnection()) && taken.size() == SIZE);
    return taken;
  }

  @Test
  void aRelayAndItsRetentionGoOnWhenItHasOnesAgain() throws Exception {
    try (HikariDataSource pool = pool()) {
      List<Connection> taken = takeAll(pool);
      try (Relay relay =
          Relay.builder(pool)
              .config(Post.config())
              .listener(this)
              .retention(
                  RetentionConfig.off()
                      .withInterval(Duration.ofSeconds(1))
                      .withPeriod(RetentionTask.INBOX, Duration.ofDays(40)))
              .destination("here", post.taking())
              .route("shop", "*", "here")
              .build()
              .start()) {
        await().until(() -> kinds.size() >= 6 && !failed.isEmpty());
        assertThat(kinds).containsOnly("transient");
        assertThat(relay.status().failure()).isNull();
        assertThat(relay.status().running()).isTrue();

        for (Connection connection : taken) {
          connection.close();
        }
        post.send("orders", "k", 1);
        post.untilEmpty();
        await().until(() -> retained.contains("inbox"));
        assertThat(kinds).containsOnly("transient");
      }
    }
  }
}

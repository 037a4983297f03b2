package dev.postrider.internal.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testrules.NoSecondChance;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Position order is commit order: a reader that goes on from where it was misses nothing. */
@Timeout(120)
@NoSecondChance
class StreamOrderTest {
  private static final int WRITERS = 4;
  private static final int TRANSACTIONS = 60;
  private final Channel channel = new Channel();

  @Test
  @Tag("CH-3")
  void aReaderMissesNothingOfManyWriters() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(WRITERS);
    try {
      List<Future<List<UUID>>> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int seed = i;
        writers.add(pool.submit(() -> write(new Random(seed))));
      }
      List<StreamEvent> seen = new ArrayList<>();
      while (!writers.stream().allMatch(Future::isDone)) {
        seen.addAll(channel.log.after(seen.size(), StreamFilter.ALL, 7).events());
      }
      seen.addAll(channel.read(seen.size(), StreamFilter.ALL, 100));
      List<UUID> written = new ArrayList<>();
      for (Future<List<UUID>> writer : writers) {
        written.addAll(writer.get());
      }
      assertThat(seen).map(StreamEvent::id).containsExactlyInAnyOrderElementsOf(written);
      for (int i = 0; i < seen.size(); i++) {
        assertThat(seen.get(i).position()).isEqualTo(i + 1);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  /** Transactions of several statements, some rolled back; returns what was committed. */
  private List<UUID> write(Random random) throws SQLException {
    List<UUID> committed = new ArrayList<>();
    try (Connection connection = channel.database.transaction()) {
      for (int i = 0; i < TRANSACTIONS; i++) {
        List<UUID> ids = append(connection, 1 + random.nextInt(5));
        if (random.nextInt(4) == 0) {
          connection.rollback();
        } else {
          connection.commit();
          committed.addAll(ids);
        }
      }
    }
    return committed;
  }

  private static List<UUID> append(Connection connection, int count) throws SQLException {
    String sql =
        """
        with m as materialized (
          select (postrider.enqueue('a', 'b', '{}')).id from generate_series(1, ?))
        select id from postrider.stream_append(
          array(select id from m), array(select 1::smallint from m)), pg_sleep(random() / 1000)
        """;
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setInt(1, count);
      List<UUID> ids = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          ids.add(rows.getObject(1, UUID.class));
        }
      }
      return ids;
    }
  }
}

package dev.postrider.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** Empties a plain table in batches and says how fast. Holds no state between calls. */
final class RawDelete {
  private static final String DELETE =
      """
      delete from raw_queue where id in (
        select id from raw_queue order by id limit 500 for update skip locked)
      returning id, payload
      """;

  private static final String ROWS =
      """
      drop table if exists raw_queue;
      create table raw_queue (id uuid primary key, payload text not null);
      insert into raw_queue
      select q.id, convert_from(m.payload, 'UTF8')
        from postrider.queue q join postrider.message m on m.id = q.id order by q.id;
      truncate postrider.queue, postrider.message;
      """;

  private RawDelete() {}

  /** Turns the backlog into rows for {@link #rate}. */
  static void prepare(BenchDatabase database) throws SQLException {
    database.execute(ROWS);
    database.settle();
  }

  /** The least that taking rows once can cost: delete them in batches, record nothing. */
  static double rate(BenchDatabase database, long messages, int workers) throws Exception {
    return rate(database, messages, workers, payload -> {});
  }

  /** The same with something to do for each row. */
  static double rate(BenchDatabase database, long messages, int workers, Consumer<String> sink)
      throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(workers);
    try {
      database.meter().start();
      long start = System.nanoTime();
      List<Callable<Long>> loops = new ArrayList<>();
      for (int i = 0; i < workers; i++) {
        loops.add(() -> deleteAll(database, sink));
      }
      long taken = 0;
      for (Future<Long> loop : threads.invokeAll(loops)) {
        taken += loop.get();
      }
      if (taken != messages) {
        throw new IllegalStateException("took " + taken + " of " + messages + " rows");
      }
      double rate = perSecond(messages, start);
      database.meter().stop(messages);
      return rate;
    } finally {
      threads.shutdown();
    }
  }

  private static long deleteAll(BenchDatabase database, Consumer<String> sink) throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        PreparedStatement delete = connection.prepareStatement(DELETE)) {
      long taken = 0;
      while (true) {
        long before = taken;
        try (ResultSet rows = delete.executeQuery()) {
          while (rows.next()) {
            sink.accept(rows.getString(2));
            taken++;
          }
        }
        if (taken == before) {
          return taken;
        }
      }
    }
  }

  private static double perSecond(long messages, long startNanos) {
    return messages / ((System.nanoTime() - startNanos) / 1e9);
  }
}

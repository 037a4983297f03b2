package dev.postrider.bench;

import dev.postrider.dispatch.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.store.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Empties a backlog and says how fast. Holds no state between calls. */
final class Drain {
  private static final long LIMIT_MINUTES = 20;

  private static final String RAW =
      """
      delete from raw_queue where id in (
        select id from raw_queue order by id limit 500 for update skip locked)
      returning id, payload
      """;

  private Drain() {}

  /** Messages per second that a relay with a no-op destination carries from the topic. */
  static double relay(
      BenchDatabase database, Schema schema, String topic, long messages, int workers)
      throws InterruptedException {
    CountDownLatch all = new CountDownLatch(1);
    AtomicLong left = new AtomicLong(messages);
    Relay relay =
        Relay.builder(database.dataSource())
            .schema(schema)
            .config(RelayConfig.defaults().withCarriers(workers))
            .destination(
                "nowhere",
                HandlerDestination.inline(
                    message -> {
                      if (left.decrementAndGet() == 0) {
                        all.countDown();
                      }
                      return Outcome.delivered();
                    }))
            .route("bench", topic, "nowhere")
            .build();
    long start = System.nanoTime();
    relay.start();
    if (!all.await(LIMIT_MINUTES, TimeUnit.MINUTES)) {
      throw new IllegalStateException(left + " of " + messages + " messages did not arrive");
    }
    relay.close(); // settles the last ones: part of the work
    return perSecond(messages, start);
  }

  /** The least that taking rows once can cost: delete them in batches, record nothing. */
  static double raw(BenchDatabase database, long messages, int workers) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(workers);
    try {
      long start = System.nanoTime();
      List<Callable<Long>> loops = new ArrayList<>();
      for (int i = 0; i < workers; i++) {
        loops.add(() -> deleteAll(database));
      }
      long taken = 0;
      for (Future<Long> loop : threads.invokeAll(loops)) {
        taken += loop.get();
      }
      if (taken != messages) {
        throw new IllegalStateException("took " + taken + " of " + messages + " rows");
      }
      return perSecond(messages, start);
    } finally {
      threads.shutdown();
    }
  }

  private static long deleteAll(BenchDatabase database) throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        PreparedStatement delete = connection.prepareStatement(RAW)) {
      long taken = 0;
      while (true) {
        long before = taken;
        try (ResultSet rows = delete.executeQuery()) {
          while (rows.next()) {
            taken += rows.getString(2).isEmpty() ? 0 : 1;
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

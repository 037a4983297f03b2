package dev.postrider.verify;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * Services that write business rows and messages in one transaction, now and then roll back, and on
 * any failure do the same again under the same dedupe key. Thread-safe.
 */
final class Producers implements AutoCloseable {
  static final String TABLE = "create table business (dedupe_key text primary key)";
  private static final int KEYS = 10;

  private final DataSource dataSource;
  private final List<Thread> threads = new ArrayList<>();
  private final Set<String> committed = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;

  Producers(DataSource dataSource, int count) {
    this.dataSource = dataSource;
    for (int i = 0; i < count; i++) {
      String name = "p" + i;
      Thread thread = new Thread(() -> run(name), name);
      threads.add(thread);
      thread.start();
    }
  }

  /** The dedupe keys whose commit was acknowledged, sooner or later. */
  Set<String> committed() {
    return committed;
  }

  private void run(String name) {
    for (int n = 0; !stopping; n++) {
      String dedupeKey = name + "-" + n;
      while (!committed.contains(dedupeKey)) {
        try (Connection connection = dataSource.getConnection()) {
          connection.setAutoCommit(false);
          boolean rollback = ThreadLocalRandom.current().nextInt(10) == 0;
          write(connection, rollback ? "rolled-back-" + dedupeKey : dedupeKey, n);
          if (rollback) {
            connection.rollback();
            continue;
          }
          connection.commit();
          committed.add(dedupeKey);
          LockSupport.parkNanos(4_000_000); // a steady load and not a backlog
        } catch (SQLException e) {
          LockSupport.parkNanos(20_000_000); // the server is away
        }
      }
    }
  }

  private static void write(Connection connection, String dedupeKey, int n) throws SQLException {
    try (var insert =
        connection.prepareStatement("insert into business values (?) on conflict do nothing")) {
      insert.setString(1, dedupeKey);
      insert.executeUpdate();
    }
    NewMessage.Builder message =
        NewMessage.to("shop", n % 3 == 0 ? "invoices" : "orders").json("{}").dedupeKey(dedupeKey);
    if (n % 4 != 0) {
      message.key("k" + ThreadLocalRandom.current().nextInt(KEYS));
    }
    new Outbox().enqueue(connection, message.build());
  }

  @Override
  public void close() {
    stopping = true;
    for (Thread thread : threads) {
      try {
        thread.join(30_000);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}

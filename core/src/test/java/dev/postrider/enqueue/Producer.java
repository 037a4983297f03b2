package dev.postrider.enqueue;

import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.awaitility.Awaitility;

/** A service that enqueues: what the tests of this package have in common. Thread-safe. */
record Producer(TestDatabase database, Outbox outbox) {

  static Producer create() {
    return new Producer(TestDatabase.create(), new Outbox());
  }

  static NewMessage.Builder order() {
    return NewMessage.to("shop", "orders").json("{}");
  }

  Enqueued commit(NewMessage message) throws SQLException {
    return commit(List.of(message)).get(0);
  }

  /** One transaction of single calls. */
  List<Enqueued> commit(List<NewMessage> messages) throws SQLException {
    try (Connection connection = database.transaction()) {
      List<Enqueued> answers = new ArrayList<>();
      for (NewMessage message : messages) {
        answers.add(outbox.enqueue(connection, message));
      }
      connection.commit();
      return answers;
    }
  }

  /** One transaction with one call. */
  List<Enqueued> commitBatch(List<NewMessage> messages) throws SQLException {
    try (Connection connection = database.transaction()) {
      List<Enqueued> answers = outbox.enqueue(connection, messages);
      connection.commit();
      return answers;
    }
  }

  /** Claims and settles whatever is due, as a relay does. */
  void deliverAll() {
    database.execute(
        """
        with w as materialized (select postrider.worker_id('relay') as id),
        c as materialized (
          select c.*, w.id as worker from w, postrider.claim(
            w.id, 1000, 1000000000, 60000, array(select id from postrider.route)) c)
        select postrider.settle(min(worker), array_agg(id),
          array_agg(token), array_fill(1::smallint, array[count(*)::int])) from c
        """);
  }

  long messages() {
    return database.count("select count(*) from postrider.message");
  }

  long queued() {
    return database.count("select count(*) from postrider.queue");
  }

  static <T> CompletableFuture<T> async(Callable<T> work) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return work.call();
          } catch (Exception e) {
            throw new CompletionException(e);
          }
        },
        task -> new Thread(task, "producer").start());
  }

  /** Returns when so many sessions wait for a lock of another. */
  void awaitBlocked(int sessions) {
    Awaitility.await()
        .until(
            () ->
                database.count(
                        """
                        select count(*) from pg_stat_activity
                         where datname = current_database() and wait_event_type = 'Lock'
                        """)
                    == sessions);
  }
}

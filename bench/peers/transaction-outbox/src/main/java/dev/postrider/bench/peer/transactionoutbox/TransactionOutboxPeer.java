package dev.postrider.bench.peer.transactionoutbox;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Peer;
import dev.postrider.bench.peer.Repeating;
import dev.postrider.bench.peer.Site;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.validation.ValidationException;

/**
 * A call per message, run right after the commit by a pool with a large bounded queue, as the
 * submitter's documentation advises; what others left is found by a thread that calls flush all the
 * time, as the README shows it.
 */
public final class TransactionOutboxPeer implements Peer {
  private static final int THREADS = 16;
  private static final int QUEUE = 20_000;
  private static final int FLUSH_BATCH = 1_000;
  private static final int ATTEMPTS_MAX = 10;

  @Override
  public void install(Site site) throws Exception {
    site.execute("drop table if exists txno_outbox, txno_version");
    open(site, Role.PRODUCER, payload -> {}).close(); // migrates
  }

  @Override
  public String idle() {
    return "select not exists (select 1 from txno_outbox)";
  }

  @Override
  public Session open(Site site, Role role, Consumer<String> handler) throws InterruptedException {
    return new Running(site.pool(THREADS + 4), role, new Receiver(handler));
  }

  /** What the scheduled call is made on. */
  public static class Receiver {
    private final Consumer<String> handler;

    Receiver(Consumer<String> handler) {
      this.handler = handler;
    }

    public void handle(String payload) {
      handler.accept(payload);
    }
  }

  private static final class Running implements Session {
    private final HikariDataSource pool;
    private final TransactionManager transactions;
    private final TransactionOutbox outbox;
    private final ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            THREADS, THREADS, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(QUEUE));
    private final Repeating flusher = new Repeating(this::flush);

    Running(HikariDataSource pool, Role role, Receiver receiver) {
      this.pool = pool;
      this.transactions = TransactionManager.fromDataSource(pool);
      // The next attempt is that far away from the enqueue: short, if another process is to do it,
      // but it must lie in the future when the entry is checked.
      Duration attempts = role.handles() ? Duration.ofMinutes(1) : Duration.ofMillis(20);
      this.outbox =
          TransactionOutbox.builder()
              .transactionManager(transactions)
              .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
              .instantiator(Instantiator.using(type -> receiver))
              .submitter(role.handles() ? Submitter.withExecutor(threads) : (entry, local) -> {})
              .attemptFrequency(attempts)
              .flushBatchSize(FLUSH_BATCH)
              .serializeMdc(false)
              .build();
    }

    /** An entry may be due before it was checked, and is refused then: once more. */
    @Override
    public void send(Order order) throws Exception {
      for (int attempt = 1; ; attempt++) {
        try {
          sendOnce(order);
          return;
        } catch (ValidationException e) {
          if (attempt == ATTEMPTS_MAX) {
            throw e;
          }
        }
      }
    }

    private void sendOnce(Order order) throws Exception {
      transactions.inTransactionThrows(
          transaction -> {
            order.insert(transaction.connection());
            outbox.schedule(Receiver.class).handle(order.payload());
            order.committing();
          });
    }

    @Override
    public void start() {
      flusher.start();
    }

    private boolean flush() {
      return threads.getQueue().remainingCapacity() > FLUSH_BATCH && outbox.flush();
    }

    @Override
    public void close() throws InterruptedException {
      flusher.close();
      threads.shutdownNow();
      threads.awaitTermination(10, TimeUnit.SECONDS);
      pool.close();
    }
  }
}

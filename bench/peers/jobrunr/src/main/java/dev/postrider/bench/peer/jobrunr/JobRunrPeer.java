package dev.postrider.bench.peer.jobrunr;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Peer;
import dev.postrider.bench.peer.Site;
import dev.postrider.bench.peer.Transactions;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.StorageProviderUtils.DatabaseOptions;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.jackson.JacksonJsonMapper;

/**
 * A job request per message, without the analysis of lambdas. The free edition commits its jobs by
 * itself; here it is lent the connection of the business transaction, which it would otherwise not
 * be an outbox with, and one commit cheaper for it.
 */
public final class JobRunrPeer implements Peer {
  private static final int WORKERS = 16;

  /** The smallest it takes. */
  private static final Duration POLL = Duration.ofSeconds(5);

  /** What is stored. */
  public record Placed(String payload) implements JobRequest {
    @Override
    public Class<Receiver> getJobRequestHandler() {
      return Receiver.class;
    }
  }

  /** What is called. Waits for the start: a server's first look at the table takes seconds. */
  public static final class Receiver implements JobRequestHandler<Placed> {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch started = new CountDownLatch(1);
    private final Consumer<String> handler;

    Receiver(Consumer<String> handler) {
      this.handler = handler;
    }

    @Override
    public void run(Placed placed) throws InterruptedException {
      reached.countDown();
      started.await();
      handler.accept(placed.payload());
    }
  }

  @Override
  public void install(Site site) throws Exception {
    site.execute(
        """
        drop view if exists jobrunr_jobs_stats;
        drop table if exists jobrunr_jobs, jobrunr_recurring_jobs, jobrunr_backgroundjobservers,
          jobrunr_metadata, jobrunr_migrations cascade;
        """);
    try (HikariDataSource pool = site.pool(1)) {
      new PostgresStorageProvider(pool, DatabaseOptions.CREATE).close();
    }
  }

  @Override
  public String idle() {
    return "select not exists (select 1 from jobrunr_jobs where state in ('ENQUEUED', 'PROCESSING'))";
  }

  @Override
  public Session open(Site site, Role role, Consumer<String> handler) throws Exception {
    Receiver receiver = new Receiver(handler);
    Running running = new Running(site.pool(WORKERS + 8), receiver);
    if (role.handles()) {
      running.server.start();
    }
    if (role == Role.HANDLER && !site.isTrue(idle())) {
      receiver.reached.await(2 * POLL.toSeconds(), TimeUnit.SECONDS);
    }
    return running;
  }

  private static final class Running implements Session {
    private final HikariDataSource pool;
    private final Transactions transactions;
    private final StorageProvider storage;
    private final JobRequestScheduler jobs;
    private final BackgroundJobServer server;

    private final Receiver receiver;

    Running(HikariDataSource pool, Receiver receiver) {
      this.pool = pool;
      this.receiver = receiver;
      this.transactions = new Transactions(pool);
      JacksonJsonMapper json = new JacksonJsonMapper();
      this.storage =
          new PostgresStorageProvider(transactions.dataSource(), DatabaseOptions.SKIP_CREATE);
      storage.setJobMapper(new JobMapper(json));
      this.jobs = new JobRequestScheduler(storage);
      this.server =
          new BackgroundJobServer(
              storage,
              json,
              new JobActivator() {
                @Override
                public <T> T activateJob(Class<T> type) {
                  return type.cast(receiver);
                }
              },
              BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                  .andPollInterval(POLL)
                  .andWorkerCount(WORKERS)
                  .andInterruptJobsAwaitDurationOnStopBackgroundJobServer(Duration.ofSeconds(5)));
    }

    @Override
    public void send(Order order) throws Exception {
      transactions.run(
          connection -> {
            order.insert(connection);
            jobs.enqueue(new Placed(order.payload()));
            order.committing();
          });
    }

    @Override
    public void start() {
      receiver.started.countDown();
    }

    @Override
    public void close() {
      receiver.started.countDown();
      server.stop();
      storage.close();
      pool.close();
    }
  }
}

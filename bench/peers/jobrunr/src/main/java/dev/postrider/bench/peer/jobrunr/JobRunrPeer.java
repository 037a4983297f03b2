package dev.postrider.bench.peer.jobrunr;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Peer;
import dev.postrider.bench.peer.Site;
import dev.postrider.bench.peer.Transactions;
import java.time.Duration;
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

  /** What is called. */
  public static final class Receiver implements JobRequestHandler<Placed> {
    private final Consumer<String> handler;

    Receiver(Consumer<String> handler) {
      this.handler = handler;
    }

    @Override
    public void run(Placed placed) {
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
  public Session open(Site site, Role role, Consumer<String> handler) throws InterruptedException {
    return new Running(site.pool(WORKERS + 8), handler);
  }

  private static final class Running implements Session {
    private final HikariDataSource pool;
    private final Transactions transactions;
    private final StorageProvider storage;
    private final JobRequestScheduler jobs;
    private final BackgroundJobServer server;

    Running(HikariDataSource pool, Consumer<String> handler) {
      this.pool = pool;
      this.transactions = new Transactions(pool);
      JacksonJsonMapper json = new JacksonJsonMapper();
      this.storage =
          new PostgresStorageProvider(transactions.dataSource(), DatabaseOptions.SKIP_CREATE);
      storage.setJobMapper(new JobMapper(json));
      this.jobs = new JobRequestScheduler(storage);
      Receiver receiver = new Receiver(handler);
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
      server.start();
    }

    @Override
    public void close() {
      server.stop();
      storage.close();
      pool.close();
    }
  }
}

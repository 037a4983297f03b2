package dev.postrider.bench.peer.dbscheduler;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Peer;
import dev.postrider.bench.peer.Site;
import dev.postrider.bench.peer.Transactions;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;

/**
 * A one-time task per message, lock-and-fetch, threads and limits as in the faster of the
 * documented runs against a PostgreSQL with few cores. In one process the scheduler is told to look
 * after each commit.
 */
public final class DbSchedulerPeer implements Peer {
  private static final int THREADS = 20;
  private static final double LOWER_LIMIT = 4.0;
  private static final double UPPER_LIMIT = 20.0;
  private static final Duration POLL = Duration.ofMillis(10);

  /** As documented, without the index for priorities, which are off. */
  private static final String TABLES =
      """
      drop table if exists scheduled_tasks;
      create table scheduled_tasks (
        task_name text not null, task_instance text not null, task_data bytea,
        execution_time timestamptz not null, picked boolean not null, picked_by text,
        last_success timestamptz, last_failure timestamptz, consecutive_failures int,
        last_heartbeat timestamptz, version bigint not null, priority smallint,
        primary key (task_name, task_instance));
      create index execution_time_idx on scheduled_tasks (execution_time);
      create index last_heartbeat_idx on scheduled_tasks (last_heartbeat);
      """;

  @Override
  public void install(Site site) throws Exception {
    site.execute(TABLES);
  }

  @Override
  public String idle() {
    return "select not exists (select 1 from scheduled_tasks)";
  }

  @Override
  public Session open(Site site, Role role, Consumer<String> handler) throws InterruptedException {
    return new Running(site.pool(THREADS + 4), role, handler);
  }

  private static final class Running implements Session {
    private final HikariDataSource pool;
    private final Transactions transactions;
    private final OneTimeTask<String> task;
    private final SchedulerClient client;
    private final Scheduler scheduler;
    private final boolean wakes;

    Running(HikariDataSource pool, Role role, Consumer<String> handler) {
      this.pool = pool;
      this.transactions = new Transactions(pool);
      this.task =
          Tasks.oneTime("order", String.class)
              .execute((instance, context) -> handler.accept(instance.getData()));
      this.client = SchedulerClient.Builder.create(transactions.dataSource(), task).build();
      this.scheduler =
          Scheduler.create(pool, task)
              .threads(THREADS)
              .pollUsingLockAndFetch(LOWER_LIMIT, UPPER_LIMIT)
              .pollingInterval(POLL)
              .shutdownMaxWait(Duration.ofSeconds(5))
              .build();
      this.wakes = role == Role.BOTH;
    }

    @Override
    public void send(Order order) throws Exception {
      transactions.run(
          connection -> {
            order.insert(connection);
            client.scheduleIfNotExists(
                task.instance(Long.toString(order.number()), order.payload()), Instant.now());
            order.committing();
          });
      if (wakes) {
        scheduler.triggerCheckForDueExecutions();
      }
    }

    @Override
    public void start() {
      scheduler.start();
    }

    @Override
    public void close() {
      scheduler.stop();
      pool.close();
    }
  }
}

package dev.postrider.bench.peer.namastack;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Peer;
import dev.postrider.bench.peer.Site;
import io.namastack.outbox.Outbox;
import io.namastack.outbox.handler.OutboxRecordMetadata;
import io.namastack.outbox.handler.OutboxTypedHandler;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.LifecycleProcessor;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A record per message with a key of its own. Polling and threads as its page on performance gives
 * them for platform threads; completed records are deleted, since updating them would enter each
 * into five indexes again.
 */
public final class NamastackPeer implements Peer {
  private static final int THREADS_MAX = 32;
  private static final long ASSIGNED_NANOS = 10_000_000_000L;
  private static final String ASSIGNED =
      "select exists (select 1 from outbox_partition where instance_id is not null)";
  private static final Map<String, Object> SETTINGS =
      Map.ofEntries(
          Map.entry("namastack.outbox.polling.trigger", "fixed"),
          Map.entry("namastack.outbox.polling.batch-size", 1000),
          Map.entry("namastack.outbox.polling.fixed.interval", "25ms"),
          Map.entry("namastack.outbox.processing.executor-core-pool-size", 16),
          Map.entry("namastack.outbox.processing.executor-max-pool-size", THREADS_MAX),
          Map.entry("namastack.outbox.processing.delete-completed-records", true),
          Map.entry("namastack.outbox.processing.shutdown-timeout", "5s"),
          Map.entry("namastack.outbox.instance.heartbeat-interval", "1s"),
          Map.entry("namastack.outbox.instance.rebalance-interval", "1s"),
          Map.entry("namastack.outbox.instance.stale-instance-timeout", "10s"),
          Map.entry("spring.main.banner-mode", "off"));

  /** What is stored. */
  public record Placed(String payload) {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  /** Waits for the start, because the library handles as soon as it runs. */
  private record Receiver(Consumer<String> handler, CountDownLatch started)
      implements OutboxTypedHandler<Placed> {
    @Override
    public void handle(Placed placed, OutboxRecordMetadata metadata) {
      try {
        started.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException("interrupted before the start", e);
      }
      handler.accept(placed.payload());
    }
  }

  /** A producer does not register as an instance: it would be given partitions to handle. */
  private static final class Resting extends DefaultLifecycleProcessor {
    @Override
    public void onRefresh() {}
  }

  @Override
  public void install(Site site) throws Exception {
    site.execute("drop table if exists outbox_record, outbox_instance, outbox_partition");
    open(site, Role.PRODUCER, payload -> {}).close(); // creates them
  }

  @Override
  public String idle() {
    return "select not exists (select 1 from outbox_record where status = 'NEW')";
  }

  @Override
  public Session open(Site site, Role role, Consumer<String> handler) throws Exception {
    Running running = new Running(site.pool(THREADS_MAX + 8), role, handler);
    long deadline = System.nanoTime() + ASSIGNED_NANOS;
    while (role.handles() && !site.isTrue(ASSIGNED) && System.nanoTime() < deadline) {
      Thread.sleep(10);
    }
    return running;
  }

  private static final class Running implements Session {
    private final CountDownLatch started = new CountDownLatch(1);
    private final HikariDataSource pool;
    private final ConfigurableApplicationContext context;
    private final Outbox outbox;
    private final TransactionTemplate transactions;

    Running(HikariDataSource pool, Role role, Consumer<String> handler) {
      this.pool = pool;
      this.context =
          new SpringApplicationBuilder(Application.class)
              .web(WebApplicationType.NONE)
              .registerShutdownHook(false)
              .properties(SETTINGS)
              .initializers(c -> register((GenericApplicationContext) c, role, handler))
              .run();
      this.outbox = context.getBean(Outbox.class);
      this.transactions =
          new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
    }

    private void register(GenericApplicationContext beans, Role role, Consumer<String> handler) {
      if (!role.handles()) {
        beans.registerBean("lifecycleProcessor", LifecycleProcessor.class, Resting::new);
      }
      beans.registerBean(DataSource.class, () -> pool);
      beans.registerBean(Receiver.class, () -> new Receiver(handler, started));
    }

    @Override
    public void send(Order order) {
      transactions.executeWithoutResult(
          status -> {
            try {
              order.insert(DataSourceUtils.getConnection(pool));
            } catch (SQLException e) {
              throw new IllegalStateException(e);
            }
            outbox.schedule(new Placed(order.payload()), "order-" + order.number());
            order.committing();
          });
    }

    @Override
    public void start() {
      started.countDown();
    }

    @Override
    public void close() {
      started.countDown();
      context.close();
      pool.close();
    }
  }
}

package dev.postrider.bench.peer.modulith;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Peer;
import dev.postrider.bench.peer.Repeating;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An application with the registry. Thread-safe where the harness needs it. */
final class ModulithSession implements Peer.Session {
  static final int THREADS = 16;

  private static final Map<String, Object> SETTINGS =
      Map.of(
          "spring.modulith.events.completion-mode", "delete",
          "spring.modulith.events.jdbc.schema-initialization.enabled", true,
          "spring.main.banner-mode", "off");

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableAsync
  static class Application {}

  private final HikariDataSource pool;
  private final Peer.Role role;
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          THREADS,
          THREADS,
          1,
          TimeUnit.MINUTES,
          new LinkedBlockingQueue<>(),
          Executors.defaultThreadFactory());
  private final ConfigurableApplicationContext context;
  private final TransactionTemplate transactions;
  private final Repeating resubmitter = new Repeating(this::resubmit);

  ModulithSession(HikariDataSource pool, Peer.Role role, ModulithPeer.Receiver receiver) {
    this.pool = pool;
    this.role = role;
    this.context =
        new SpringApplicationBuilder(Application.class)
            .web(WebApplicationType.NONE)
            .registerShutdownHook(false)
            .properties(SETTINGS)
            .initializers(c -> register((GenericApplicationContext) c, receiver))
            .run();
    this.transactions = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
  }

  /** A producer's listeners are dropped: others will handle what it published. */
  private void register(GenericApplicationContext beans, ModulithPeer.Receiver receiver) {
    beans.registerBean(DataSource.class, () -> pool);
    beans.registerBean(ModulithPeer.Receiver.class, () -> receiver);
    beans.registerBean(
        "taskExecutor",
        AsyncTaskExecutor.class,
        () -> new TaskExecutorAdapter(role.handles() ? threads : task -> {}));
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
          context.publishEvent(new ModulithPeer.Placed(order.payload()));
          order.committing();
        });
  }

  @Override
  public void start() {
    if (role == Peer.Role.HANDLER) {
      resubmitter.start();
    }
  }

  /** Never while something is in flight: that would be submitted once more. */
  private boolean resubmit() {
    if (threads.getActiveCount() == 0 && threads.getQueue().isEmpty()) {
      context
          .getBean(IncompleteEventPublications.class)
          .resubmitIncompletePublications(publication -> true);
    }
    return false;
  }

  @Override
  public void close() throws InterruptedException {
    resubmitter.close();
    threads.shutdown();
    threads.awaitTermination(10, TimeUnit.SECONDS);
    context.close();
    pool.close();
  }
}

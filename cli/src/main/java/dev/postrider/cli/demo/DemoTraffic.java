package dev.postrider.cli.demo;

import dev.postrider.enqueue.Outbox;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.message.NewMessage;
import dev.postrider.message.PostriderException;
import dev.postrider.observe.Backlog;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A shop that takes orders and payments and writes mails, five messages a second. While more than a
 * few thousand wait, as they do when nobody looks after the keys that are blocked, it only writes
 * mails, which have no key. Thread-safe; runs on a thread of its own.
 */
public final class DemoTraffic implements AutoCloseable {
  /** Whose messages these are. */
  public static final String NAMESPACE = "shop";

  private static final Logger log = LoggerFactory.getLogger(DemoTraffic.class);
  private static final long EVERY_MILLIS = 200;
  private static final long PENDING_MAX = 3_000;
  private static final int LOOK_EVERY = 50;
  private static final int CUSTOMERS = 12;

  private final DataSource dataSource;
  private final Schema schema;
  private final Outbox outbox;
  private final Random random = new Random();
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final Thread thread = new Thread(this::run, "postrider-demo");

  private DemoTraffic(DataSource dataSource, Schema schema) {
    this.dataSource = dataSource;
    this.schema = schema;
    this.outbox = new Outbox(schema);
  }

  public static DemoTraffic start(DataSource dataSource, Schema schema) {
    DemoTraffic traffic = new DemoTraffic(dataSource, schema);
    traffic.thread.setDaemon(true);
    traffic.thread.start();
    return traffic;
  }

  private void run() {
    while (stopped.getCount() > 0) {
      try (Connection connection = dataSource.getConnection()) {
        send(connection);
      } catch (SQLException | PostriderException e) {
        log.warn("{}", LogLine.of("demo_traffic_failed").put("error", Silenced.text(e)));
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** Until it is stopped or the connection fails. */
  private void send(Connection connection) throws SQLException, InterruptedException {
    boolean full = false;
    for (long number = 0; !stopped.await(EVERY_MILLIS, TimeUnit.MILLISECONDS); number++) {
      if (number % LOOK_EVERY == 0) {
        full = Backlog.read(connection, schema).pending() > PENDING_MAX;
      }
      connection.setAutoCommit(false);
      outbox.enqueue(connection, full ? mail(customer()) : next());
      connection.commit();
      connection.setAutoCommit(true);
    }
  }

  private String customer() {
    return "customer-" + (1 + random.nextInt(CUSTOMERS));
  }

  private NewMessage next() {
    String customer = customer();
    return switch (random.nextInt(5)) {
      case 0, 1 -> event("orders", customer, "placed");
      case 2 -> event("orders", customer, "shipped");
      case 3 -> event("payments", customer, "captured");
      default -> mail(customer);
    };
  }

  private static NewMessage mail(String customer) {
    return NewMessage.to(NAMESPACE, "mails")
        .eventType("welcome")
        .json("{\"to\": \"%s@example.com\"}".formatted(customer))
        .build();
  }

  private NewMessage event(String topic, String customer, String type) {
    String amount = String.format(Locale.ROOT, "%.2f", 1 + random.nextInt(20_000) / 100.0);
    return NewMessage.to(NAMESPACE, topic)
        .key(customer)
        .tenant("demo")
        .aggregate(topic.equals("orders") ? "order" : "payment", customer)
        .eventType(type)
        .json("{\"customer\": \"%s\", \"amount\": %s}".formatted(customer, amount))
        .build();
  }

  @Override
  public void close() {
    stopped.countDown();
    try {
      thread.join(5_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

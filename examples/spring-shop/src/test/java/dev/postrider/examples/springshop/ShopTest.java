package dev.postrider.examples.springshop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.postrider.testkit.TestPostgres;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The whole application, with PostgreSQL and RabbitMQ, in a process of its own. */
@Tag("OP-5")
@Timeout(120)
class ShopTest {
  private static final String WAITING = "select count(*) from postrider.queue";
  private static final String LISTENING =
      "select count(*) from pg_stat_activity"
          + " where datname = current_database() and (query ilike 'listen%' or query = 'select 1')";
  private static final Pattern ORDER = Pattern.compile("\"orderId\": ?\"([^\"]+)\"");

  private TestPostgres database;
  private Connection connection;
  private Channel invoicing;

  @BeforeEach
  void connect() throws Exception {
    database = Servers.database().another("shop" + System.nanoTime());
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(Servers.rabbit());
    connection = factory.newConnection();
    invoicing = connection.createChannel();
    invoicing.queueDelete("invoicing");
  }

  @AfterEach
  void disconnect() throws Exception {
    connection.close();
  }

  /** The orders in the queue, one entry per delivery. */
  private List<String> invoiced() throws Exception {
    List<String> orders = new ArrayList<>();
    GetResponse got;
    while ((got = invoicing.basicGet("invoicing", true)) != null) {
      Matcher order = ORDER.matcher(new String(got.getBody(), StandardCharsets.UTF_8));
      assertThat(order.find()).isTrue();
      orders.add(order.group(1));
    }
    return orders;
  }

  private void untilDelivered() {
    await()
        .atMost(Duration.ofSeconds(40))
        .untilAsserted(() -> assertThat(database.count(WAITING)).isZero());
  }

  @Test
  void anOrderArrivesAndARolledBackOneDoesNot() throws Exception {
    try (ShopProcess shop = ShopProcess.start(database)) {
      assertThat(shop.create("good", 100)).isTrue();
      assertThat(shop.create("bad", 0)).isFalse();
      untilDelivered();
    }
    assertThat(invoiced()).containsExactly("good");
    assertThat(database.column("select order_id from mails")).containsExactly("good");
    assertThat(database.column("select id from orders")).containsExactly("good");
  }

  @Test
  void aKilledApplicationLosesNothing() throws Exception {
    Set<String> accepted = new ConcurrentSkipListSet<>();
    try (ShopProcess shop = ShopProcess.start(database)) {
      CountDownLatch some = new CountDownLatch(200);
      AtomicBoolean stop = new AtomicBoolean();
      Thread customers =
          new Thread(
              () -> {
                for (int i = 0; !stop.get(); i++) {
                  String id = "order-" + i;
                  if (shop.create(id, 100)) {
                    accepted.add(id);
                  }
                  some.countDown();
                }
              });
      customers.start();
      some.await();
      shop.kill();
      stop.set(true);
      customers.join();
    }
    assertThat(accepted).hasSizeGreaterThan(100);
    try (ShopProcess again = ShopProcess.start(database)) {
      untilDelivered();
    }
    TreeSet<String> stored = new TreeSet<>(database.column("select id from orders"));
    assertThat(stored).containsAll(accepted);
    assertThat(new TreeSet<>(invoiced())).isEqualTo(stored);
    assertThat(database.column("select order_id from mails"))
        .containsExactlyInAnyOrderElementsOf(stored);
    assertThat(database.count("select count(*) from postrider.dead_letter")).isZero();
  }

  /** The mails wait for a lock while the application is told to stop. */
  @Test
  void shutdownFinishesWhatIsInFlight() throws Exception {
    try (ShopProcess shop = ShopProcess.start(database);
        var blocker = database.dataSource().getConnection()) {
      blocker.setAutoCommit(false);
      try (var lock = blocker.createStatement()) {
        lock.execute("lock table mails in exclusive mode");
      }
      assertThat(shop.create("last", 100)).isTrue();
      String waits =
          "select count(*) from pg_stat_activity"
              + " where wait_event_type = 'Lock' and query like 'insert into mails%'";
      await().untilAsserted(() -> assertThat(database.count(waits)).isEqualTo(1));
      assertThat(database.count(LISTENING)).isEqualTo(1);
      Thread unlock =
          new Thread(
              () -> {
                try {
                  // A relay that stops first closes the connection that listens.
                  await()
                      .atMost(Duration.ofSeconds(20))
                      .until(() -> database.count(LISTENING) == 0);
                  blocker.commit();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      unlock.start();
      assertThat(shop.stop()).isTrue();
      unlock.join();
    }
    assertThat(database.column("select order_id from mails")).contains("last");
    assertThat(database.count("select count(*) from postrider.lease")).isZero();
    assertThat(database.count("select count(*) from postrider.attempt where error is not null"))
        .isZero();
  }
}

package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.retention.RetentionTask;
import dev.postrider.testkit.TestPostgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

@Tag("OP-5")
@ExtendWith(OutputCaptureExtension.class)
class SpringRelayTest {
  private static final String WAITING = "select count(*) from postrider.queue";
  private static final String DEAD = "select code from postrider.dead_letter";

  record OrderCreated(String orderId) {}

  static class Mails {
    final List<String> sent = new CopyOnWriteArrayList<>();
    private final JdbcTemplate jdbc;

    Mails(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    @OutboxHandler(namespace = "shop", topic = "orders")
    void created(OrderCreated event, Map<String, String> headers, int attempt, Message message) {
      sent.add("%s %s %d %s".formatted(event, headers.get("trace"), attempt, message.key()));
    }

    @OutboxHandler(namespace = "shop", topic = "payments", name = "ledger", once = true)
    void paid(String payload, int attempt) {
      jdbc.update("insert into ledger values (?)", payload + attempt);
      if (attempt == 1) {
        throw new IllegalStateException("not yet");
      }
    }

    @OutboxHandler(namespace = "shop", topic = "refunds", terminal = IllegalArgumentException.class)
    void refund(byte[] payload) {
      throw new IllegalArgumentException("no refund");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    Mails mails(JdbcTemplate jdbc) {
      return new Mails(jdbc);
    }

    @Bean
    MeterRegistry meters() {
      return new SimpleMeterRegistry();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class NoHandlers {}

  /** Spring Cloud's refresh scope makes such proxies. */
  static class Scoped {
    static final List<String> HANDLED = new CopyOnWriteArrayList<>();

    @OutboxHandler(namespace = "shop", topic = "orders")
    void created(String payload) {
      HANDLED.add(payload);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class ScopedHandlers {
    @Bean
    @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
    Scoped scoped() {
      return new Scoped();
    }
  }

  abstract static class Typed<T> {
    final List<T> handled = new CopyOnWriteArrayList<>();

    @OutboxHandler(namespace = "shop", topic = "orders")
    void created(T event) {
      handled.add(event);
    }
  }

  static class Orders extends Typed<OrderCreated> {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class TypedHandlers {
    @Bean
    Orders orders() {
      return new Orders();
    }
  }

  static class Unreadable {
    @OutboxHandler(namespace = "shop", topic = "orders")
    void created(Map<String, Object> payload) {}
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class UnreadableHandlers {
    @Bean
    Unreadable unreadable() {
      return new Unreadable();
    }
  }

  static class Asynchronous {
    @Async
    @OutboxHandler(namespace = "shop", topic = "orders")
    void created(String payload) {}
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableAsync
  static class AsynchronousHandlers {
    @Bean
    Asynchronous asynchronous() {
      return new Asynchronous();
    }
  }

  static class Slow {
    static CountDownLatch proceed;
    final List<Integer> attempts = new CopyOnWriteArrayList<>();

    @OutboxHandler(namespace = "shop", topic = "orders", timeout = "200ms")
    void created(String payload, int attempt) throws InterruptedException {
      attempts.add(attempt);
      proceed.await(20, TimeUnit.SECONDS);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class SlowHandlers {
    @Bean
    Slow slow() {
      return new Slow();
    }
  }

  private static void publish(ConfigurableApplicationContext app, NewMessage message) {
    TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
    new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(status -> outbox.publish(message));
  }

  private static NewMessage order(String id) {
    return NewMessage.to("shop", "orders")
        .key(id)
        .header("trace", "t1")
        .json(new OrderCreated(id))
        .build();
  }

  @Test
  void aHandlerGetsWhatItAsksFor() {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Shop.class, "spring.main.lazy-initialization=true")) {
      publish(app, order("1"));
      Mails mails = app.getBean(Mails.class);
      await()
          .untilAsserted(
              () -> assertThat(mails.sent).containsExactly("OrderCreated[orderId=1] t1 1 1"));
      await().untilAsserted(() -> assertThat(database.count(WAITING)).isZero());
      assertThat(app.getBean(MeterRegistry.class).get("outbox.claimed.messages").counter().count())
          .isEqualTo(1);
    }
  }

  @Test
  void effectsHappenOnceAndFailedOnesAreRolledBack() {
    TestPostgres database = Apps.database();
    database.execute("create table ledger (entry text)");
    try (var app = Apps.start(database, Shop.class, "postrider.retry.backoff-base=10ms")) {
      publish(app, NewMessage.to("shop", "payments").json("7").build());
      await().untilAsserted(() -> assertThat(database.count(WAITING)).isZero());
      assertThat(database.column("select entry from ledger")).containsExactly("72");
      assertThat(database.column("select consumer from postrider.inbox")).containsExactly("ledger");
    }
  }

  @Test
  void aTerminalErrorMakesTheMessageDeadAtOnce() {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Shop.class)) {
      publish(app, NewMessage.to("shop", "refunds").json("7").build());
      await()
          .untilAsserted(
              () -> assertThat(database.column(DEAD)).containsExactly("handler_refused"));
    }
  }

  @Test
  void theRelayTakesNoConnectionFromThePool() {
    TestPostgres database = Apps.database();
    try (var app =
        Apps.start(database, Shop.class, "spring.datasource.hikari.maximum-pool-size=1")) {
      publish(app, order("1"));
      Mails mails = app.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.sent).hasSize(1));
      HikariDataSource pool = app.getBean(HikariDataSource.class);
      assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
    }
  }

  @Test
  void anApplicationThatOnlyPublishesHasNoRelay() {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Shop.class, "postrider.relay.enabled=false")) {
      publish(app, order("1"));
      assertThat(app.getBeanNamesForType(OutboxRelay.class)).isEmpty();
    }
    assertThat(database.count(WAITING)).isEqualTo(1);
    try (var app = Apps.start(database, Shop.class)) {
      Mails mails = app.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.sent).hasSize(1));
    }
  }

  /** Polling is far too slow, and notifications are off. The relay finds the topic at its start. */
  @Test
  void aCommitWakesTheRelayOfTheSameProcess() {
    TestPostgres database = Apps.database();
    database.execute("select postrider.enqueue('shop', 'orders', '{\"orderId\": \"0\"}')");
    try (var app =
        Apps.start(
            database,
            Shop.class,
            "postrider.relay.listen=false",
            "postrider.relay.poll-interval=60s")) {
      Mails mails = app.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.sent).hasSize(1));
      await().untilAsserted(() -> assertThat(database.count(WAITING)).isZero());
      for (int i = 1; i <= 3; i++) {
        publish(app, order("" + i));
        int sent = i + 1;
        await().untilAsserted(() -> assertThat(mails.sent).hasSize(sent));
      }
    }
  }

  @Test
  void theRelayRunsThePoolsInitSqlAndFollowsItsPassword() throws Exception {
    TestPostgres database = Apps.database();
    database.execute("create role rotating superuser login password 'one'");
    String url = database.jdbcUrl();
    try (var app =
        Apps.start(
            Shop.class,
            "spring.datasource.url=" + url.substring(0, url.indexOf('?')),
            "spring.datasource.username=rotating",
            "spring.datasource.password=one",
            "spring.datasource.hikari.maximum-pool-size=1",
            "spring.datasource.hikari.connection-init-sql=set application_name = 'shop'")) {
      await()
          .untilAsserted(
              () ->
                  assertThat(
                          database.column(
                              "select application_name from pg_stat_activity"
                                  + " where usename = 'rotating'"))
                      .hasSizeGreaterThan(1)
                      .containsOnly("shop"));
      HikariDataSource pool = app.getBean(HikariDataSource.class);
      DataSource own = RelayConnections.beside(pool);
      database.execute("alter role rotating password 'two'");
      assertThatThrownBy(own::getConnection).hasMessageContaining("password");
      pool.getHikariConfigMXBean().setPassword("two");
      try (Connection connection = own.getConnection()) {
        assertThat(connection.isValid(1)).isTrue();
      }
    }
    database.execute("drop role rotating");
  }

  @Test
  void aStreamIsConfiguredByProperties() {
    TestPostgres database = Apps.database();
    try (var app =
        Apps.start(
            database,
            NoHandlers.class,
            "postrider.destinations.live.type=stream",
            "postrider.routes[0].namespace=shop",
            "postrider.routes[0].destination=live")) {
      publish(app, order("1"));
      await()
          .untilAsserted(
              () ->
                  assertThat(database.count("select count(*) from postrider.stream_event"))
                      .isEqualTo(1));
    }
  }

  @Test
  void routesHaveTheirOwnRetries() {
    TestPostgres database = Apps.database();
    try (var app =
        Apps.start(
            database,
            NoHandlers.class,
            "postrider.retention.messages=never",
            "postrider.retention.stream=7d",
            "postrider.destinations.live.type=stream",
            "postrider.retry.max-attempts=7",
            "postrider.routes[0].namespace=shop",
            "postrider.routes[0].destination=live",
            "postrider.routes[0].retry.on-dead=block")) {
      assertThat(app.getBean(RelayPlan.class).lines())
          .singleElement()
          .extracting(line -> line.retry().maxAttempts() + " " + line.retry().onDead())
          .isEqualTo("7 BLOCK");
      PostriderProperties properties = app.getBean(PostriderProperties.class);
      assertThat(RelaySettings.retention(properties.retention()).periods())
          .doesNotContainKey(RetentionTask.MESSAGES)
          .containsEntry(RetentionTask.STREAM, Duration.ofDays(7))
          .containsEntry(RetentionTask.INBOX, Duration.ofDays(90));
    }
  }

  @Test
  void aHandlerBehindAScopedProxyIsFoundOnce() {
    TestPostgres database = Apps.database();
    Scoped.HANDLED.clear();
    try (var app = Apps.start(database, ScopedHandlers.class)) {
      publish(app, order("1"));
      await().untilAsserted(() -> assertThat(database.count(WAITING)).isZero());
      assertThat(Scoped.HANDLED).containsExactly("{\"orderId\":\"1\"}");
    }
  }

  @Test
  void aHandlerOfAGenericClassGetsItsOwnType() {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, TypedHandlers.class)) {
      publish(app, order("1"));
      Orders orders = app.getBean(Orders.class);
      await().untilAsserted(() -> assertThat(database.count(WAITING)).isZero());
      assertThat(orders.handled).containsExactly(new OrderCreated("1"));
    }
  }

  @Test
  void aPayloadWithTypeArgumentsIsReported(CapturedOutput output) {
    TestPostgres database = Apps.database();
    assertThatThrownBy(() -> Apps.start(database, UnreadableHandlers.class));
    assertThat(output)
        .contains("takes a java.util.Map<java.lang.String, java.lang.Object>")
        .contains("Headers are a Map<String, String>.");
  }

  /** It would return before its work is done: a failure would lose the message. */
  @Test
  void anAsynchronousHandlerIsRefused(CapturedOutput output) {
    TestPostgres database = Apps.database();
    assertThatThrownBy(() -> Apps.start(database, AsynchronousHandlers.class));
    assertThat(output).contains("is @Async").contains("Remove @Async");
  }

  @Test
  void aHandlerHasItsOwnTimeout() {
    TestPostgres database = Apps.database();
    Slow.proceed = new CountDownLatch(1);
    try (var app = Apps.start(database, SlowHandlers.class, "postrider.retry.backoff-base=10ms")) {
      publish(app, order("1"));
      Slow slow = app.getBean(Slow.class);
      await().untilAsserted(() -> assertThat(slow.attempts).hasSizeGreaterThan(1));
      Slow.proceed.countDown();
      await().untilAsserted(() -> assertThat(database.count(WAITING)).isZero());
      assertThat(database.column("select code from postrider.attempt where no = 1"))
          .containsExactly("timeout");
    }
  }

  @Test
  void oldMessagesAreArchivedBeforeTheyAreRemoved(@TempDir Path directory) {
    TestPostgres database = Apps.database();
    String[] settings = {
      "postrider.archive.directory=" + directory.resolve("archive"),
      "postrider.archive.retention=90d",
      "postrider.retention.messages=120d",
      "postrider.retention.interval=1s",
      "postrider.destinations.live.type=stream",
      "postrider.routes[0].namespace=shop",
      "postrider.routes[0].destination=live"
    };
    try (var app = Apps.start(database, NoHandlers.class, settings)) {
      PostriderProperties properties = app.getBean(PostriderProperties.class);
      var archiving =
          Archives.with(RelaySettings.retention(properties.retention()), properties.archive())
              .archive();
      assertThat(archiving).isNotNull();
      assertThat(archiving.config().retention()).isEqualTo(Duration.ofDays(90));
      assertThat(archiving.storage()).isNotNull();
      // The relay tells the database that nothing may be removed without an archive.
      String required = "select count(*) from postrider.engine where archive_first";
      await().untilAsserted(() -> assertThat(database.count(required)).isEqualTo(1));
    }
  }

  @Test
  void anArchiveWithoutItsModuleOrStorageIsReported(CapturedOutput output) {
    TestPostgres database = Apps.database();
    String[] route = {
      "postrider.destinations.live.type=stream",
      "postrider.routes[0].namespace=shop",
      "postrider.routes[0].destination=live"
    };
    String[] s3 = Arrays.copyOf(route, 4);
    s3[3] = "postrider.archive.storage=s3";
    assertThatThrownBy(() -> Apps.start(database, NoHandlers.class, s3));
    assertThat(output).contains("Add the dependency dev.postrider:postrider-archive-s3");
    String[] bucket = Arrays.copyOf(route, 4);
    bucket[3] = "postrider.archive.s3.bucket=old";
    assertThatThrownBy(() -> Apps.start(database, NoHandlers.class, bucket));
    assertThat(output).contains("Set postrider.archive.storage=s3.");
  }

  @Test
  void aRouteWithoutItsDestinationIsReported(CapturedOutput output) {
    TestPostgres database = Apps.database();
    assertThatThrownBy(
        () ->
            Apps.start(
                database,
                NoHandlers.class,
                "postrider.routes[0].namespace=shop",
                "postrider.routes[0].destination=broker"));
    assertThat(output)
        .contains("The route of shop/* names the destination \"broker\"")
        .contains("Define postrider.destinations.broker");
  }
}

package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import dev.postrider.inbox.Inbox;
import dev.postrider.rabbitmq.Topology.QueueType;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testkit.TestRabbit;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** A consumer whose effects and inbox share a transaction. */
class InboxConsumerTest {
  private static TestPostgres database;

  // Ours, because a test cuts connections.
  @AutoClose private final TestBroker broker = new TestBroker(TestRabbit.own());
  private final String queue = TestBroker.unique("consumed");
  private final List<String> calls = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void startDatabase() {
    database = TestPostgres.start();
    database.execute("create table effect (body text)");
  }

  @AfterAll
  static void stopDatabase() {
    database.close();
  }

  @BeforeEach
  void clear() {
    database.execute("truncate effect");
  }

  private void declare(QueueType type) throws Exception {
    Topology.builder()
        .exchange(queue, "topic")
        .queue(queue, type)
        .bind(queue, queue, "#")
        .deadLetters(queue, queue)
        .build()
        .declare(broker.connection());
  }

  private void publish(String id, String body) throws Exception {
    BasicProperties properties = new BasicProperties.Builder().messageId(id).build();
    broker.channel().basicPublish(queue, "a.b", properties, body.getBytes(StandardCharsets.UTF_8));
  }

  private static String id() {
    return UUID.randomUUID().toString();
  }

  private ConsumerConfig config() {
    return ConsumerConfig.of(broker.broker(), queue, queue)
        .withMaxDeliveries(3)
        .withRetryDelay(Duration.ofMillis(10));
  }

  private InboxConsumer start(ConsumerConfig config, InboxConsumer.Handler handler) {
    return InboxConsumer.start(config, database.dataSource(), new Inbox(), handler);
  }

  /** Writes the body; then fails for bodies that say so. */
  private void effect(java.sql.Connection connection, Received message) throws Exception {
    String body = new String(message.body(), StandardCharsets.UTF_8);
    calls.add(body);
    try (var insert = connection.prepareStatement("insert into effect values (?)")) {
      insert.setString(1, body);
      insert.executeUpdate();
    }
    if (body.startsWith("bad")) {
      throw new IllegalStateException("cannot handle " + body);
    }
  }

  private List<String> effects() {
    return database.column("select body from effect order by body");
  }

  private void untilEmpty() {
    await().until(() -> broker.ready(queue) == 0);
  }

  @Test
  @Tag("HE-8")
  void aDuplicateIsAcknowledgedWithoutTheEffect() throws Exception {
    declare(QueueType.CLASSIC);
    String twice = id();
    publish(twice, "one");
    publish(twice, "one");
    publish(id(), "two");
    try (InboxConsumer consumer = start(config(), this::effect)) {
      await().until(() -> effects().equals(List.of("one", "two")));
      await().until(consumer::isConsuming);
    }
    assertThat(calls).containsExactly("one", "two");
    assertThat(broker.ready(queue)).isZero();
    assertThat(broker.ready(queue + ".dlq")).isZero();
  }

  /** The handler's own words may quote the message. */
  @Test
  @Tag("HE-8")
  void aFailureIsLoggedWithItsStackAndNotItsMessage() throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger(Handling.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    declare(QueueType.CLASSIC);
    publish(id(), "bad card 4111-1111");
    try (InboxConsumer consumer = start(config(), this::effect)) {
      await().until(() -> broker.ready(queue + ".dlq") == 1);
      assertThat(consumer.isConsuming()).isTrue();
    } finally {
      logger.detachAppender(log);
    }
    assertThat(log.list)
        .extracting(
            event ->
                event.getFormattedMessage()
                    + ThrowableProxyUtil.asString(event.getThrowableProxy()))
        .anyMatch(line -> line.contains("event=inbox_failed") && line.contains("at dev.postrider"))
        .noneMatch(line -> line.contains("4111"));
  }

  @ParameterizedTest
  @EnumSource(QueueType.class)
  @Tag("HE-8")
  void afterSoManyFailuresAMessageIsInTheDeadLetters(QueueType type) throws Exception {
    declare(type);
    publish(id(), "bad");
    publish(id(), "good");
    try (InboxConsumer consumer = start(config(), this::effect)) {
      await().until(() -> broker.ready(queue + ".dlq") == 1);
      await().until(() -> effects().equals(List.of("good")));
    }
    // In its place, although others were sent ahead; and nothing is left of what failed.
    assertThat(calls).containsExactly("bad", "bad", "bad", "good");
    assertThat(broker.ready(queue)).isZero();
    assertThat(
            database.count("select count(*) from postrider.inbox where consumer = '" + queue + "'"))
        .isEqualTo(1);
  }

  /** Why a message that fails is kept here: what a broker does with one that is given back. */
  @ParameterizedTest
  @EnumSource(QueueType.class)
  @Tag("HE-8")
  void givenBackItWouldBePassedByItsSuccessor(QueueType type) throws Exception {
    declare(type);
    publish(id(), "first");
    publish(id(), "second");
    Channel channel = broker.channel();
    channel.basicQos(2);
    channel.basicConsume(
        queue,
        false,
        (tag, delivery) -> {
          calls.add(new String(delivery.getBody(), StandardCharsets.UTF_8));
          long number = delivery.getEnvelope().getDeliveryTag();
          if (calls.size() == 1) {
            channel.basicNack(number, false, true);
          } else {
            channel.basicAck(number, false);
          }
        },
        tag -> {});
    await().until(() -> calls.size() == 3);
    assertThat(calls).containsExactly("first", "second", "first");
  }

  /** With the broker's own limit as well, whichever comes first: it ends in the same place. */
  @Test
  @Tag("HE-8")
  void aDeliveryLimitOfTheQueueEndsInTheDeadLettersToo() throws Exception {
    Topology.builder()
        .exchange(queue, "topic")
        .queue(queue, QueueType.QUORUM, Map.of("x-delivery-limit", 1))
        .bind(queue, queue, "#")
        .deadLetters(queue, queue)
        .build()
        .declare(broker.connection());
    publish(id(), "deadly");
    for (int i = 0; i < 2; i++) { // to processes that die of it
      await().until(() -> broker.ready(queue) == 1);
      broker.channel().basicGet(queue, false);
      broker.channel().close();
    }
    await().until(() -> broker.ready(queue + ".dlq") == 1);
    publish(id(), "good");
    try (InboxConsumer consumer = start(config(), this::effect)) {
      await().until(() -> effects().equals(List.of("good")));
    }
    assertThat(calls).containsExactly("good");
  }

  @Test
  @Tag("HE-8")
  void aQuorumQueueRemembersWhatFailedInAnotherProcess() throws Exception {
    declare(QueueType.QUORUM);
    publish(id(), "bad");
    // Another process had it twice, and gave it back.
    for (int i = 0; i < 2; i++) {
      await().until(() -> broker.ready(queue) == 1);
      var delivery = broker.channel().basicGet(queue, false);
      broker.channel().basicNack(delivery.getEnvelope().getDeliveryTag(), false, true);
    }
    try (InboxConsumer consumer = start(config(), this::effect)) {
      await().until(() -> broker.ready(queue + ".dlq") == 1);
    }
    assertThat(calls).containsExactly("bad");
  }

  @Test
  @Tag("HE-8")
  void whatHasNoIdGoesToTheDeadLettersAtOnce() throws Exception {
    declare(QueueType.CLASSIC);
    publish(null, "nameless");
    publish("not a uuid", "nameless");
    try (InboxConsumer consumer = start(config(), this::effect)) {
      await().until(() -> broker.ready(queue + ".dlq") == 2);
    }
    assertThat(calls).isEmpty();
  }

  @Test
  @Tag("HE-8")
  void aDatabaseThatIsAwayCountsAgainstNobody() throws Exception {
    declare(QueueType.CLASSIC);
    publish(id(), "kept");
    try (TestPostgres own = TestPostgres.startDurable()) {
      own.execute("create table effect (body text)");
      own.server().stop();
      try (InboxConsumer consumer =
          InboxConsumer.start(config(), own.dataSource(), new Inbox(), this::effect)) {
        await().until(() -> broker.ready(queue) == 0); // it has it, and keeps it
        await().until(consumer::isConsuming);
        own.server().restart();
        await().until(() -> own.column("select body from effect").equals(List.of("kept")));
      }
    }
    assertThat(broker.ready(queue)).isZero();
    assertThat(broker.ready(queue + ".dlq")).isZero();
  }

  @Test
  @Tag("HE-8")
  void closingWaitsForTheHandlerAndGivesBackTheRest() throws Exception {
    declare(QueueType.CLASSIC);
    for (int i = 0; i < 5; i++) {
      publish(id(), "m" + i);
    }
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    InboxConsumer consumer =
        start(
            config().withPrefetch(10),
            (connection, message) -> {
              running.countDown();
              assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
              effect(connection, message);
            });
    assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
    Thread closing = new Thread(consumer::close);
    closing.start();
    await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
    go.countDown();
    closing.join(30_000);
    assertThat(effects()).containsExactly("m0");
    await().until(() -> broker.ready(queue) == 4);
  }

  @Test
  @Tag("HE-8")
  void consumesAgainAfterItsConnectionWasCut() throws Exception {
    declare(QueueType.CLASSIC);
    try (InboxConsumer consumer = start(config(), this::effect)) {
      publish(id(), "one");
      await().until(() -> effects().size() == 1);
      TestRabbit.own().control("close_all_connections", "test");
      publish(id(), "two");
      await().atMost(Duration.ofSeconds(30)).until(() -> effects().equals(List.of("one", "two")));
    }
    untilEmpty();
  }
}

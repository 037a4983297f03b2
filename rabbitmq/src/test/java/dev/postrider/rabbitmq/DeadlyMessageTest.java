package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import dev.postrider.inbox.Inbox;
import dev.postrider.rabbitmq.Topology.QueueType;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testkit.TestRabbit;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a quorum queue gives back when a process dies or loses its connection, and who pays. */
@Tag("HE-8")
class DeadlyMessageTest {
  private static final int MAX_DELIVERIES = 3;
  private static final int MESSAGES = 40;

  private static TestPostgres database;

  // Ours, because a test cuts connections.
  @AutoClose private final TestBroker broker = new TestBroker(TestRabbit.own());
  private final String queue = TestBroker.unique("deadly");
  private final List<String> calls = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void startDatabase() {
    database = TestPostgres.start();
  }

  @AfterAll
  static void stopDatabase() {
    database.close();
  }

  @BeforeEach
  void declare() throws Exception {
    Topology.builder()
        .exchange(queue, "topic")
        .queue(queue, QueueType.QUORUM)
        .bind(queue, queue, "#")
        .deadLetters(queue, queue)
        .build()
        .declare(broker.connection());
  }

  private void publish(String body) throws Exception {
    BasicProperties properties =
        new BasicProperties.Builder().messageId(UUID.randomUUID().toString()).build();
    broker.channel().basicPublish(queue, "a.b", properties, body.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> names(int from) {
    return IntStream.range(from, MESSAGES).mapToObj(number -> "m" + number).toList();
  }

  private void publishAll() throws Exception {
    for (String name : names(0)) {
      publish(name);
    }
    await().until(() -> broker.ready(queue) == MESSAGES);
  }

  /** A process that has so many and handles nothing; it dies with its connection. */
  private Connection process(int messages) throws Exception {
    Connection connection = broker.newConnection();
    Channel channel = connection.createChannel();
    CountDownLatch taken = new CountDownLatch(messages);
    channel.basicQos(messages);
    channel.basicConsume(queue, false, (tag, delivery) -> taken.countDown(), tag -> {});
    assertThat(taken.await(30, TimeUnit.SECONDS)).isTrue();
    return connection;
  }

  private InboxConsumer start(InboxConsumer.Handler handler) {
    ConsumerConfig config =
        ConsumerConfig.of(broker.broker(), queue, queue)
            .withPrefetch(MESSAGES)
            .withMaxDeliveries(MAX_DELIVERIES)
            .withRetryDelay(Duration.ofMillis(10));
    return InboxConsumer.start(config, database.dataSource(), new Inbox(), handler);
  }

  private static String body(Received message) {
    return new String(message.body(), StandardCharsets.UTF_8);
  }

  private List<String> dead() throws Exception {
    return broker.take(queue + ".dlq").stream()
        .map(response -> new String(response.getBody(), StandardCharsets.UTF_8))
        .toList();
  }

  @Test
  void takesNoneOfThoseThatWereSentAheadWithIt() throws Exception {
    publishAll();
    for (int i = 0; i < MAX_DELIVERIES; i++) {
      process(MESSAGES).close();
    }
    await().until(() -> broker.ready(queue) == MESSAGES);
    try (InboxConsumer consumer = start((connection, message) -> calls.add(body(message)))) {
      await().until(() -> calls.size() == MESSAGES - 1);
    }
    assertThat(calls).isEqualTo(names(1));
    assertThat(dead()).containsExactly("m0");
  }

  @Test
  void isRejectedAlsoWhenItComesBackBehindOthers() throws Exception {
    publish("deadly");
    for (int i = 1; i < MAX_DELIVERIES; i++) {
      process(1).close();
    }
    Connection last = process(1);
    publish("other");
    try (InboxConsumer consumer = start((connection, message) -> calls.add(body(message)))) {
      await().until(() -> calls.size() == 1);
      last.close();
      await().until(() -> broker.ready(queue + ".dlq") == 1);
    }
    assertThat(calls).containsExactly("other");
    assertThat(dead()).containsExactly("deadly");
  }

  /** Returns when the consumer has noticed. */
  private static void cut(InboxConsumer consumer) throws Exception {
    Thread cutting = new Thread(() -> TestRabbit.own().control("close_all_connections", "test"));
    cutting.start();
    await().pollInterval(Duration.ofMillis(5)).until(() -> !consumer.isConsuming());
    cutting.join();
  }

  @Test
  void isNoneThatOnlyLosesItsConnectionAgainAndAgain() throws Exception {
    publishAll();
    CountDownLatch go = new CountDownLatch(1);
    try (InboxConsumer consumer =
        start(
            (connection, message) -> {
              assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
              calls.add(body(message));
            })) {
      for (int i = 0; i < MAX_DELIVERIES; i++) {
        await().until(consumer::isConsuming);
        await().ignoreExceptions().until(() -> broker.ready(queue) == 0);
        cut(consumer);
      }
      go.countDown();
      await().atMost(Duration.ofSeconds(30)).until(() -> calls.size() == MESSAGES);
      publish("last"); // behind all that comes again
      await().atMost(Duration.ofSeconds(30)).until(() -> calls.contains("last"));
    }
    assertThat(calls.subList(0, MESSAGES)).isEqualTo(names(0));
    assertThat(calls).hasSize(MESSAGES + 1);
    assertThat(dead()).isEmpty();
  }

  /** As when the tries of a message take longer than the broker's consumer timeout. */
  @Test
  void failuresCountAlsoIfTheirAnswerDoesNotReachTheBroker() throws Exception {
    publish("bad");
    CompletableFuture<InboxConsumer> started = new CompletableFuture<>();
    try (InboxConsumer consumer =
        start(
            (connection, message) -> {
              calls.add(body(message));
              if (calls.size() == MAX_DELIVERIES) {
                cut(started.get(10, TimeUnit.SECONDS));
              }
              throw new IllegalStateException("cannot handle it");
            })) {
      started.complete(consumer);
      await()
          .atMost(Duration.ofSeconds(30))
          .ignoreExceptions()
          .until(() -> broker.ready(queue + ".dlq") == 1);
      assertThat(consumer.isConsuming()).isTrue();
    }
    assertThat(calls).hasSize(MAX_DELIVERIES);
  }
}

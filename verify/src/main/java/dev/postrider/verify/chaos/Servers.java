package dev.postrider.verify.chaos;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.postrider.embedded.EmbeddedServer;
import dev.postrider.kafka.server.KafkaServer;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.rabbitmq.Topology;
import dev.postrider.rabbitmq.Topology.QueueType;
import dev.postrider.testkit.RabbitServer;
import dev.postrider.testkit.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/** The real servers of a run. Thread-safe. */
final class Servers implements AutoCloseable {
  private final EmbeddedServer postgres;
  private final TestPostgres database;
  private final RabbitServer rabbit;
  private final KafkaServer kafka;

  private Servers(EmbeddedServer postgres, RabbitServer rabbit, KafkaServer kafka) {
    this.postgres = postgres;
    this.database = TestPostgres.on(postgres);
    this.rabbit = rabbit;
    this.kafka = kafka;
  }

  /** Starts all of them, with schema, queues and topics. */
  static Servers start() throws Exception {
    RabbitServer rabbit = RabbitServer.start();
    try {
      KafkaServer kafka = KafkaServer.start();
      try {
        Servers servers = new Servers(EmbeddedServer.start(), rabbit, kafka);
        servers.prepare();
        return servers;
      } catch (Exception e) {
        kafka.close();
        throw e;
      }
    } catch (Exception e) {
      rabbit.close();
      throw e;
    }
  }

  private void prepare() throws Exception {
    database.execute(InboxSink.TABLE);
    // Delivered messages are removed while the run goes on.
    database.execute("update postrider.engine set least_retention = '1 second'");
    for (String subscription : List.of(Scene.COPY_HANDLED, Scene.COPY_RABBIT)) {
      // A subscription gets what is committed after it was added.
      database.execute(
          "select postrider.subscription_add('chaos', '%s', '%s', '%s')"
              .formatted(Scene.NAMESPACE, Scene.BOTH, subscription));
    }
    Topology.builder()
        .exchange(Scene.EXCHANGE, "topic")
        .queue(Scene.QUEUE, QueueType.QUORUM)
        .bind(Scene.QUEUE, Scene.EXCHANGE, Scene.GOOD)
        .exchange(Scene.COPY_EXCHANGE, "topic")
        .queue(Scene.COPY_QUEUE, QueueType.CLASSIC)
        .bind(Scene.COPY_QUEUE, Scene.COPY_EXCHANGE, Scene.GOOD)
        .build()
        .declare(Broker.uri(rabbit.uri()).build());
    rabbit.storeDeclarations();
    createTopic(Scene.GOOD);
  }

  /** What bad targets lacked. */
  void mend() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(rabbit.uri());
    try (Connection connection = factory.newConnection()) {
      connection.createChannel().queueBind(Scene.QUEUE, Scene.EXCHANGE, Scene.BAD);
    }
    createTopic(Scene.BAD);
  }

  private void createTopic(String name) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.address()))) {
      admin
          .createTopics(
              List.of(new NewTopic(Scene.KAFKA_TOPIC + name, KafkaReader.PARTITIONS, (short) 1)))
          .all()
          .get(1, TimeUnit.MINUTES);
    }
  }

  TestPostgres database() {
    return database;
  }

  EmbeddedServer postgres() {
    return postgres;
  }

  RabbitServer rabbit() {
    return rabbit;
  }

  KafkaServer kafka() {
    return kafka;
  }

  void restartRabbit() {
    persistently(rabbit::restart);
  }

  void restartKafka() {
    persistently(kafka::restart);
  }

  /** On a busy machine a broker may not start in time: that ends the try, and not the run. */
  private static void persistently(Runnable start) {
    for (int tries = 1; ; tries++) {
      try {
        start.run();
        return;
      } catch (IllegalStateException e) {
        if (tries == 5) {
          throw e;
        }
      }
    }
  }

  /** Returns when the database answers. */
  void untilDatabaseAnswers() {
    Until.holds(
        Duration.ofMinutes(2),
        "the database answers",
        () -> {
          try (java.sql.Connection connection = database.dataSource().getConnection()) {
            return connection.isValid(5);
          } catch (java.sql.SQLException e) {
            return false;
          }
        });
  }

  @Override
  public void close() {
    kafka.close();
    rabbit.close();
    postgres.close();
  }
}

package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import com.sun.net.httpserver.HttpServer;
import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Tokens;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.kafka.KafkaConfig;
import dev.postrider.kafka.KafkaDestination;
import dev.postrider.kafka.server.KafkaServer;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.rabbitmq.RabbitConfig;
import dev.postrider.rabbitmq.RabbitDestination;
import dev.postrider.relay.Relay;
import dev.postrider.schema.Schema;
import dev.postrider.server.Server;
import dev.postrider.server.ServerConfig;
import dev.postrider.server.stream.StreamConfig;
import dev.postrider.stream.StreamDestination;
import dev.postrider.testkit.RabbitServer;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testrules.NoSecondChance;
import dev.postrider.webhook.WebhookConfig;
import dev.postrider.webhook.WebhookDestination;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One topic with five subscriptions, each with a real receiver of another kind. */
@Tag("EN-23")
@Timeout(240)
@NoSecondChance
class FiveSubscriptionsTest {
  private static final int KEYS = 10;
  private static final int BATCH = 300;
  private static final String QUEUE = "events";
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Pattern CONTENT = Pattern.compile("\"k\": ?(\\d+), ?\"n\": ?(\\d+)");
  private static final DestinationOptions QUICK =
      DestinationOptions.DEFAULT.withBreaker(
          new BreakerOptions(20, Duration.ofMillis(100), Duration.ofSeconds(1)));

  @AutoClose private final TestPostgres database = TestPostgres.start();
  @AutoClose private final RabbitServer rabbit = RabbitServer.start();
  @AutoClose private final KafkaServer kafka = KafkaServer.start();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, List<String>> arrived = new ConcurrentHashMap<>();
  private int sent;

  private List<String> at(String name) {
    return arrived.computeIfAbsent(name, n -> new CopyOnWriteArrayList<>());
  }

  private void arrived(String name, byte[] body) {
    arrived(name, new String(body, StandardCharsets.UTF_8));
  }

  private void arrived(String name, String text) {
    Matcher content = CONTENT.matcher(text);
    if (content.find()) {
      at(name).add(content.group(1) + "/" + content.group(2));
    }
  }

  /** The numbers of each key in the order they came; copies of a message are left out. */
  private Map<String, List<Integer>> byKey(String name) {
    Set<String> once = new LinkedHashSet<>(at(name));
    Map<String, List<Integer>> keys = new LinkedHashMap<>();
    for (String each : once) {
      String[] parts = each.split("/", 2);
      keys.computeIfAbsent(parts[0], k -> new ArrayList<>()).add(Integer.valueOf(parts[1]));
    }
    return keys;
  }

  private void enqueue() throws Exception {
    try (Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < BATCH; i++, sent++) {
        String body = "{\"k\": %d, \"n\": %d}".formatted(sent % KEYS, sent);
        new Outbox()
            .enqueue(
                connection,
                NewMessage.to("shop", "orders").key("k" + sent % KEYS).json(body).build());
      }
      connection.commit();
    }
  }

  private Relay relay(String hook) {
    return Relay.builder(database.dataSource())
        .destination(
            "handler",
            HandlerDestination.inline(
                message -> {
                  arrived("handler", message.payload());
                  return Outcome.delivered();
                }))
        .destination(
            "rabbit",
            RabbitDestination.open(
                RabbitConfig.to(Broker.at(rabbit.address()).credentials("guest", "guest").build())
                    .exchange(QUEUE)
                    .routingKey("{topic}")
                    .confirmTimeout(Duration.ofSeconds(5))
                    .build()),
            QUICK)
        .destination(
            "kafka",
            KafkaDestination.open(KafkaConfig.builder(kafka.address()).topic("orders").build()))
        .destination(
            "webhook",
            new WebhookDestination(
                WebhookConfig.to(hook).unsigned().allowNet("127.0.0.0/8").build()))
        .destination("stream", new StreamDestination(database.dataSource(), Schema.DEFAULT))
        .route("shop", "orders", "handler")
        .subscription("shop", "orders", "rabbit", "rabbit")
        .subscription("shop", "orders", "kafka", "kafka")
        .subscription("shop", "orders", "webhook", "webhook")
        .subscription("shop", "orders", "stream", "stream")
        .build();
  }

  private HttpServer hooks() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          arrived("webhook", exchange.getRequestBody().readAllBytes());
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    server.start();
    return server;
  }

  private void declareQueue() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setPort(rabbit.port());
    try (com.rabbitmq.client.Connection connection = factory.newConnection();
        Channel channel = connection.createChannel()) {
      channel.exchangeDeclare(QUEUE, "topic", true);
      channel.queueDeclare(QUEUE, true, false, false, Map.of("x-queue-type", "quorum"));
      channel.queueBind(QUEUE, QUEUE, "#");
    }
    rabbit.storeDeclarations();
  }

  private void readQueue() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setPort(rabbit.port());
    try (com.rabbitmq.client.Connection connection = factory.newConnection();
        Channel channel = connection.createChannel()) {
      channel.basicConsume(
          QUEUE, true, (tag, delivery) -> arrived("rabbit", delivery.getBody()), tag -> {});
      await().atMost(LIMIT).until(() -> new LinkedHashSet<>(at("rabbit")).size() == sent);
    }
  }

  private void createKafkaTopic() throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.address()))) {
      admin
          .createTopics(List.of(new NewTopic("orders", 1, (short) 1)))
          .all()
          .get(60, TimeUnit.SECONDS);
    }
  }

  private void readKafka() {
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", kafka.address(), "auto.offset.reset", "earliest"),
            new StringDeserializer(),
            new StringDeserializer())) {
      consumer.assign(List.of(new TopicPartition("orders", 0)));
      consumer.seekToBeginning(consumer.assignment());
      at("kafka").clear();
      await()
          .atMost(LIMIT)
          .until(
              () -> {
                consumer
                    .poll(Duration.ofMillis(200))
                    .forEach(record -> arrived("kafka", record.value()));
                return new LinkedHashSet<>(at("kafka")).size() == sent;
              });
    }
  }

  private void readStream(Server server, String token) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.url() + "/v1/streams/events?after=earliest"))
            .header("Authorization", "Bearer " + token)
            .build();
    at("stream").clear();
    try (var lines = HttpClient.newHttpClient().send(request, BodyHandlers.ofLines()).body()) {
      Iterator<String> each = lines.iterator();
      while (new LinkedHashSet<>(at("stream")).size() < sent && each.hasNext()) {
        arrived("stream", each.next());
      }
    }
  }

  private long waitingFor(String subscription) {
    return database.count(
        "select postrider.subscription_pending('shop', 'orders', '" + subscription + "')");
  }

  @Test
  void allGetEverythingInOrderWhileOneIsDownAndComesBack() throws Exception {
    declareQueue();
    createKafkaTopic();
    HttpServer hooks = hooks();
    String token =
        new Tokens(database.dataSource(), Schema.DEFAULT)
            .create("tests", NewToken.of("s", Permission.STREAM, Permission.PAYLOAD_READ))
            .secret();
    String hook = "http://127.0.0.1:" + hooks.getAddress().getPort() + "/";
    try (Server server =
            Server.builder(database.dataSource())
                .config(ServerConfig.DEFAULT.withPort(0))
                .streams(StreamConfig.DEFAULT)
                .start();
        Relay relay = relay(hook).start()) {
      await()
          .atMost(LIMIT)
          .until(() -> database.count("select count(*) from postrider.subscription") == 5);
      enqueue();
      await()
          .atMost(LIMIT)
          .until(() -> database.count("select count(*) from postrider.queue") == 0);

      rabbit.kill();
      enqueue();
      for (String other : List.of("", "kafka", "webhook", "stream")) {
        await().atMost(LIMIT).until(() -> waitingFor(other) == 0);
      }
      assertThat(new LinkedHashSet<>(at("handler"))).hasSize(sent);
      assertThat(new LinkedHashSet<>(at("webhook"))).hasSize(sent);
      assertThat(waitingFor("rabbit")).as("nothing is lost").isEqualTo(BATCH);
      readKafka();
      readStream(server, token);

      rabbit.restart();
      enqueue();
      await()
          .atMost(LIMIT)
          .until(() -> database.count("select count(*) from postrider.queue") == 0);
      assertThat(relay.status().running()).isTrue();
      readQueue();
      readKafka();
      readStream(server, token);
    } finally {
      hooks.stop(0);
      threads.shutdownNow();
    }
    assertThat(database.count("select count(*) from postrider.message")).isEqualTo(sent);
    for (String name : List.of("handler", "rabbit", "kafka", "webhook", "stream")) {
      Map<String, List<Integer>> keys = byKey(name);
      assertThat(keys).as(name).hasSize(KEYS);
      assertThat(keys.values())
          .as(name)
          .allSatisfy(numbers -> assertThat(numbers).isSorted().hasSize(sent / KEYS));
    }
  }
}

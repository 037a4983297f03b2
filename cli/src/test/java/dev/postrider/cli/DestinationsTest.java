package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import dev.postrider.cli.Executable.Running;
import dev.postrider.cli.config.Page;
import dev.postrider.kafka.server.KafkaServer;
import dev.postrider.testkit.RabbitServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of the pages, with real receivers: only addresses and logins are others. */
@Tag("HE-13")
class DestinationsTest {
  @TempDir Path folder;
  private Desk desk;

  @BeforeEach
  void open() throws Exception {
    desk = Desk.ready(folder);
  }

  private void configure(String page) throws Exception {
    Files.writeString(
        folder.resolve("postrider.yaml"), Page.of("destinations/" + page + ".md").yaml());
  }

  private void send() {
    desk.run(
            "enqueue",
            "-n",
            "shop",
            "-t",
            "orders",
            "-k",
            "o-1",
            "-p",
            "{\"n\": 1}",
            "--aggregate-type",
            "order",
            "--aggregate-id",
            "o-1",
            "--event-type",
            "placed",
            "--header",
            "traceparent=00-ab",
            "--header",
            "x-internal=1")
        .ok();
  }

  private void awaitDelivered(Running relay) {
    await()
        .untilAsserted(
            () ->
                assertThat(desk.run("tail", "--last", "1", "--for", "1ms").ok())
                    .as(relay.err())
                    .contains("delivered"));
    relay.process().destroy();
    relay.awaitExit();
    assertThat(relay.result().exitCode()).as(relay.err()).isZero();
  }

  @Test
  @Tag("HE-6")
  void rabbitGetsItsTopologyAndTheMessage() throws Exception {
    configure("rabbitmq");
    try (RabbitServer server = RabbitServer.start();
        Running relay =
            desk.postrider
                .with("POSTRIDER_DESTINATIONS_RABBIT_ADDRESSES", server.address())
                .with("POSTRIDER_DESTINATIONS_RABBIT_TLS_ENABLED", "false")
                .with("POSTRIDER_DESTINATIONS_RABBIT_USER", "guest")
                .with("POSTRIDER_DESTINATIONS_RABBIT_PASSWORD", "guest")
                .start("relay")) {
      send();
      awaitDelivered(relay);
      ConnectionFactory factory = new ConnectionFactory();
      factory.setPort(server.port());
      try (Connection connection = factory.newConnection();
          Channel channel = connection.createChannel()) {
        GetResponse got = channel.basicGet("billing", true);
        assertThat(new String(got.getBody(), StandardCharsets.UTF_8))
            .contains("\"payload\":{\"n\": 1}", "\"event_type\":\"placed\"");
        assertThat(got.getEnvelope().getRoutingKey()).isEqualTo("order.placed");
        assertThat(channel.messageCount("billing.dlq")).isZero();
      }
    }
  }

  @Test
  void kafkaGetsTheRecord() throws Exception {
    configure("kafka");
    try (KafkaServer server = KafkaServer.start();
        Admin admin = Admin.create(Map.of("bootstrap.servers", server.address()));
        KafkaConsumer<String, String> consumer =
            new KafkaConsumer<>(
                Map.of("bootstrap.servers", server.address(), "auto.offset.reset", "earliest"),
                new StringDeserializer(),
                new StringDeserializer());
        Running relay =
            desk.postrider
                .with("POSTRIDER_DESTINATIONS_KAFKA_BOOTSTRAP_SERVERS", server.address())
                .with("POSTRIDER_DESTINATIONS_KAFKA_PROPERTIES_SECURITY_PROTOCOL", "PLAINTEXT")
                .start("relay")) {
      admin
          .createTopics(List.of(new NewTopic("shop.orders", 1, (short) 1)))
          .all()
          .get(30, TimeUnit.SECONDS);
      send();
      List<ConsumerRecord<String, String>> records = new ArrayList<>();
      consumer.assign(List.of(new TopicPartition("shop.orders", 0)));
      await()
          .atMost(Duration.ofMinutes(1)) // a new topic's leader may take its time
          .until(
              () -> {
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
                return !records.isEmpty();
              });
      assertThat(records.get(0).key()).isEqualTo("o-1");
      assertThat(records.get(0).value()).isEqualTo("{\"n\": 1}");
      assertThat(
              new String(
                  records.get(0).headers().lastHeader("ce_source").value(), StandardCharsets.UTF_8))
          .isEqualTo("/shop");
      awaitDelivered(relay);
    }
  }

  @Test
  void aWebhookGetsTheSignedRequest() throws Exception {
    configure("webhook");
    List<Headers> requests = new CopyOnWriteArrayList<>();
    List<String> bodies = new CopyOnWriteArrayList<>();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.createContext(
        "/hooks",
        exchange -> {
          requests.add(exchange.getRequestHeaders());
          bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    server.start();
    String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/hooks";
    try (Running relay =
        desk.postrider
            .with("POSTRIDER_DESTINATIONS_CUSTOMER_URL", url)
            .with("POSTRIDER_DESTINATIONS_CUSTOMER_ALLOW_NETS", "127.0.0.0/8")
            .with("POSTRIDER_DESTINATIONS_CUSTOMER_HEADERS_AUTHORIZATION", "Bearer t0k3n")
            .start("relay")) {
      send();
      awaitDelivered(relay);
      assertThat(relay.err()).doesNotContain("t0k3n", "whsec_");
    } finally {
      server.stop(0);
    }
    assertThat(bodies).containsExactly("{\"n\": 1}");
    Headers headers = requests.get(0);
    assertThat(headers.getFirst("webhook-signature").split(" "))
        .hasSize(2)
        .allMatch(s -> s.startsWith("v1,"));
    assertThat(headers.getFirst("authorization")).isEqualTo("Bearer t0k3n");
    assertThat(headers.getFirst("x-api-version")).isEqualTo("2");
    assertThat(headers.getFirst("traceparent")).isEqualTo("00-ab");
    assertThat(headers.containsKey("x-internal")).isFalse();
  }
}

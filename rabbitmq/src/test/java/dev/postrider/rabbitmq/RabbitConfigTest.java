package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.PostriderException;
import dev.postrider.relay.Relay;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Settings are checked before anything is opened, all of them at once, and show no secrets. */
@Tag("OP-6")
class RabbitConfigTest {
  @Test
  void aBrokerByItsUri() {
    Broker broker = Broker.uri("amqps://us%40er:p%2Fw+d@rabbit.example:5999/v%2Fh").build();
    assertThat(broker.addresses()).containsExactly("rabbit.example:5999");
    assertThat(broker.user()).isEqualTo("us@er");
    assertThat(broker.password()).isEqualTo("p/w+d");
    assertThat(broker.virtualHost()).isEqualTo("v/h");
    assertThat(broker.tls()).isNotNull();
    assertThat(broker.toString()).doesNotContain("p/w+d").contains("with TLS");
    assertThat(Broker.uri("amqp://localhost").build().virtualHost()).isEqualTo("/");
  }

  @Test
  void aUriWithAMistakeIsNotRepeated() {
    for (String uri :
        new String[] {"amqp://u:hunter2@ho st/", "http://u:hunter2@host/", "amqp:u:hunter2"}) {
      assertThatThrownBy(() -> Broker.uri(uri))
          .isInstanceOf(PostriderException.class)
          .hasMessageStartingWith("RabbitMQ broker: ")
          .hasMessageNotContaining("hunter2")
          .hasNoCause();
    }
  }

  @Test
  void everyMistakeOfABrokerIsReported() {
    assertThatThrownBy(
            () ->
                Broker.at("user:secret@host", "ok:5672")
                    .virtualHost("")
                    .heartbeat(Duration.ZERO)
                    .build())
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("an address as host or host:port")
        .hasMessageContaining("a virtual host of 1..255 bytes, got \"\"")
        .hasMessageContaining("heartbeat of 1000..300000 ms, got 0 ms")
        .hasMessageNotContaining("secret");
  }

  @Test
  void everyMistakeOfADestinationIsReported() {
    RabbitConfig.Builder wrong =
        RabbitConfig.to(Broker.at("localhost").build())
            .channels(0)
            .confirmTimeout(Duration.ZERO)
            .maxMessageBytes(0);
    assertThatThrownBy(wrong::build)
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("channels 1..64, got 0")
        .hasMessageContaining("confirmTimeout of")
        .hasMessageContaining("maxMessageBytes 1..")
        .hasMessageContaining("an exchange, got none");
    assertThatThrownBy(() -> wrong.exchange("{nothing}"))
        .hasMessageContaining("no field is called {nothing}");
  }

  @Test
  void aConfirmMustNotTakeLongerThanTheRelayWaits() {
    RabbitConfig.Builder config = RabbitConfig.to(Broker.at("localhost:1").build()).exchange("e");
    try (RabbitDestination patient =
        RabbitDestination.open(config.confirmTimeout(Duration.ofSeconds(31)).build())) {
      Relay.Builder relay =
          Relay.builder(new PGSimpleDataSource())
              .destination("rabbit", patient)
              .route("shop", "*", "rabbit");
      assertThatThrownBy(relay::build)
          .isInstanceOf(PostriderException.class)
          .hasMessageContaining("destination 'rabbit' may take 31000 ms to answer")
          .hasMessageContaining("expected a longer timeout, got 30000 ms");
    }
  }

  @Test
  void everyMistakeOfAConsumerIsReported() {
    Broker broker = Broker.at("localhost").build();
    assertThatThrownBy(
            () -> new ConsumerConfig(broker, "", " ", 0, 65, 0, Duration.ZERO, Duration.ofDays(1)))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("a queue of")
        .hasMessageContaining("a consumer of")
        .hasMessageContaining("prefetch 1..10000, got 0")
        .hasMessageContaining("channels 1..64, got 65")
        .hasMessageContaining("maxDeliveries 1..1000, got 0")
        .hasMessageContaining("shutdownTimeout of");
  }

  @Test
  void onlyPipeliningPromisesAnOrderWithinABatch() {
    RabbitConfig.Builder config = RabbitConfig.to(Broker.at("localhost:1").build()).exchange("e");
    try (RabbitDestination careful = RabbitDestination.open(config.build());
        RabbitDestination fast = RabbitDestination.open(config.pipelining(true).build())) {
      assertThat(careful.keepsOrder()).isFalse();
      assertThat(fast.keepsOrder()).isTrue();
    }
  }
}

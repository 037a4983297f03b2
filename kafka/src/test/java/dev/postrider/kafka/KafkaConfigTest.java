package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("OP-6")
class KafkaConfigTest {
  private static KafkaConfig.Builder builder() {
    return KafkaConfig.builder("localhost:9092");
  }

  @Test
  void everythingThatIsWrongIsSaidAtOnce() {
    assertThatThrownBy(
            () ->
                KafkaConfig.builder("localhost, other:9092")
                    .topic("{nonsense}")
                    .deliveryTimeout(Duration.ofMillis(5))
                    .deadAtOnce("kafka_unknown_topic", "kafka_timeout")
                    .maxBlock(Duration.ofMinutes(1))
                    .bufferMemory(5)
                    .property("acks", "1")
                    .property("delivery.timeout.ms", "7")
                    .build())
        .isInstanceOf(PostriderException.class)
        .hasMessageContainingAll(
            "topic: ",
            "{nonsense}",
            "bootstrapServers: expected host:port, got \"localhost\"",
            "deliveryTimeout: expected 1000 ms to 600000 ms, got 5 ms",
            "deadAtOnce: expected one of [kafka_topic_authorization, kafka_unknown_topic],"
                + " got \"kafka_timeout\"",
            "maxBlock: expected 10 ms to 10000 ms, got 60000 ms",
            "bufferMemory: expected 1 MiB to 1 GiB, got 5",
            "property acks: expected all, got \"1\"",
            "property delivery.timeout.ms is not yours to set: use deliveryTimeout()");
  }

  @ParameterizedTest
  @CsvSource({"64, 2, 4", "4, 2, 2", "1, 2, 1", "64, 32, 2", "64, 128, 1"})
  void producersOfRunsShareAsMuchMemoryAsTheOrdinaryOneHas(
      int bufferMib, int requestMib, int producers) {
    Map<String, String> settings =
        Map.of(
            "buffer.memory",
            Long.toString((long) bufferMib << 20),
            "max.request.size",
            Integer.toString(requestMib << 20));
    assertThat(ProducerSettings.producersOfRuns(settings, 4)).isEqualTo(producers);
    assertThat(ProducerSettings.memoryForRuns(settings, producers))
        .isEqualTo(((long) bufferMib << 20) / producers);
  }

  @ParameterizedTest
  @CsvSource({
    "enable.idempotence, false",
    "acks, 0",
    "acks, 1",
    "retries, 0",
    "max.in.flight.requests.per.connection, 6",
    "max.in.flight.requests.per.connection, 10",
    "partitioner.ignore.keys, true",
    "partitioner.class, org.apache.kafka.clients.producer.RoundRobinPartitioner",
    "key.serializer, org.apache.kafka.common.serialization.StringSerializer",
    "value.serializer, org.apache.kafka.common.serialization.StringSerializer",
    "transactional.id, mine",
    "bootstrap.servers, elsewhere:9092",
    "max.block.ms, 60000",
    "buffer.memory, 1",
    "linger.ms, soon",
    "compression.type, best",
    "request.timeout.ms, 30000",
  })
  void whatWouldBreakItIsRefused(String name, String value) {
    assertThatThrownBy(() -> builder().property(name, value).build())
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining(name);
  }

  @ParameterizedTest
  @CsvSource({
    "enable.idempotence, true",
    "acks, all",
    "acks, -1",
    "retries, 10",
    "max.in.flight.requests.per.connection, 1",
    "linger.ms, 20",
    "compression.type, zstd",
    "client.id, billing",
    "some.plug-in.setting, x",
  })
  void whatIsSafeIsPassedOn(String name, String value) {
    assertThat(builder().property(name, value).build().settings()).containsEntry(name, value);
  }

  @Test
  void theRelayMustWaitLongerThanTheClientTries() {
    KafkaConfig config = builder().deliveryTimeout(Duration.ofSeconds(40)).build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      assertThat(destination.answersWithin()).isEqualTo(Duration.ofSeconds(42));
    }
  }

  @Test
  void theDefaultsAreSafe() {
    assertThat(builder().build().settings())
        .containsEntry("acks", "all")
        .containsEntry("enable.idempotence", "true")
        .containsEntry("delivery.timeout.ms", "20000")
        .containsEntry("request.timeout.ms", "10000")
        .containsEntry("max.block.ms", "2000")
        .containsEntry("buffer.memory", "67108864");
    assertThat(builder().build().topic()).hasToString("{namespace}.{topic}");
  }

  @Test
  void namesThatDoNotResolveYetAreNoReasonToFail() throws Exception {
    KafkaConfig config = KafkaConfig.builder("kafka.invalid:9092").build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      assertThat(Sample.code(Sample.deliver(destination, Sample.message("k", "{}", Map.of()))))
          .isEqualTo("unavailable kafka_producer_failed");
    }
  }

  @Test
  void aClientThatCannotBeMadeIs() {
    KafkaConfig config =
        builder()
            .property("security.protocol", "SSL")
            .property("ssl.truststore.location", "/does/not/exist.jks")
            .build();
    assertThatThrownBy(() -> KafkaDestination.open(config))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("/does/not/exist.jks");
  }
}

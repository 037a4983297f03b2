package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.envelope.Envelope;
import dev.postrider.kafka.FaultyPartitioner.Fault;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Code of users that fails: its message fails alone, is answered, and leaves nothing behind. */
@Tag("OP-6")
@Tag("EN-10")
class UserCodeTest {
  private static final byte[] BODY = {'{', '}'};
  private static final byte[] LARGE = new byte[100_000];
  private static final OrderingKey KEY = new OrderingKey("run", "k");

  @AutoClose private final Topic topic = Topic.create();

  private KafkaConfig.Builder config() {
    return Broker.config().topic(topic.name);
  }

  private static Message message(String key, byte[] body) {
    return Sample.message(new Route("run", "orders"), key, body, Map.of());
  }

  private static Message faulty(String key, byte[] body) {
    return Sample.message(
        new Route("run", "orders"), key, body, Map.of(FaultyInterceptor.HEADER, "yes"));
  }

  private static List<String> deliver(KafkaDestination destination, Message... batch)
      throws Exception {
    return Sample.deliver(destination, List.of(batch)).stream().map(Sample::code).toList();
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void aPartitionerThatFailsOnARecordFailsNoOther(Fault fault) throws Exception {
    KafkaConfig config =
        config().property("partitioner.class", FaultyPartitioner.class.getName()).build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      LiveProducer ordinary = destination.slot().get();
      LiveProducer ofRuns = destination.producerOfRuns(KEY);
      String failed = "retryable kafka_partitioner_threw";
      assertThat(
              deliver(
                  destination, message(null, BODY), message("a", fault.body()), message("b", BODY)))
          .containsExactly("delivered", failed, "delivered");
      assertThat(
              deliver(
                  destination, message("k", BODY), message("k", fault.body()), message("k", BODY)))
          .containsExactly("delivered", failed, "not sent kafka_behind");
      assertThat(deliver(destination, message("k", BODY), message("k", BODY)))
          .containsOnly("delivered");
      assertThat(destination.slot().get()).isSameAs(ordinary);
      assertThat(destination.producerOfRuns(KEY)).isSameAs(ofRuns);
    }
    assertThat(topic.records()).hasSize(5).allMatch(record -> record.partition() == 0);
  }

  @Test
  void anErrorOfAnInterceptorIsAnsweredAndTakesNoRoom() throws Exception {
    KafkaConfig config =
        config()
            .bufferMemory(1 << 20)
            .property("interceptor.classes", FaultyInterceptor.class.getName())
            .build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      assertThat(deliver(destination, message("a", BODY), faulty("b", BODY), message("c", BODY)))
          .containsExactly("delivered", "retryable kafka_error", "delivered");
      LiveProducer ofRuns = destination.producerOfRuns(KEY);
      for (int i = 0; i < 20; i++) {
        assertThat(deliver(destination, message("k", BODY), faulty("k", LARGE), message("k", BODY)))
            .containsExactly("delivered", "retryable kafka_error", "not sent kafka_behind");
      }
      assertThat(destination.producerOfRuns(KEY)).isSameAs(ofRuns);
    }
  }

  @Test
  void anErrorOfTheEnvelopeFailsItsMessageAlone() throws Exception {
    Message bad = message("k", BODY);
    KafkaConfig config =
        config()
            .envelope(
                message -> {
                  if (message.id().equals(bad.id())) {
                    throw new StackOverflowError("spoiled");
                  }
                  return Envelope.payload().seal(message);
                })
            .build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      assertThat(deliver(destination, message("k", BODY), bad, message(null, BODY)))
          .containsExactly("delivered", "retryable kafka_envelope_threw", "delivered");
    }
  }

  /** Otherwise what the stopped producer had would be answered when the engine gives it up. */
  @Test
  void aPartitionerThatThrowsWhenClosedHoldsBackNoAnswer() throws Exception {
    try (Topic small = Topic.create(Map.of("max.message.bytes", "15000"));
        KafkaDestination destination =
            KafkaDestination.open(
                Broker.config()
                    .topic(small.name)
                    .property("partitioner.class", ThrowsWhenClosed.class.getName())
                    .build())) {
      assertThat(deliver(destination, message("k", BODY), message("k", LARGE), message("k", BODY)))
          .contains("terminal kafka_too_large");
    }
  }

  /** A partitioner of a user that fails only at its end. */
  public static final class ThrowsWhenClosed extends FaultyPartitioner {
    @Override
    public void close() {
      throw new IllegalStateException("spoiled");
    }
  }
}

package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.kafka.Acknowledgements.Reach;
import dev.postrider.kafka.SendFailure.Scope;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.LeaderNotAvailableException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of errors, with the classes that brokers' codes become. */
@Tag("OP-6")
@Tag("EN-10")
class KafkaErrorsTest {
  private final KafkaErrors errors = new KafkaErrors(new SecretMask(Map.of()), Set.of());
  private final AtomicLong now = new AtomicLong();
  private final List<Outcome> broken = new ArrayList<>();
  private final LiveProducer producer =
      new LiveProducer(
          null,
          errors,
          new LiveProducer.Shared(
              Duration.ofSeconds(10),
              new Acknowledgements(),
              new Overtaken(),
              new AwayPartitions(Duration.ofSeconds(20)),
              true,
              Duration.ofMinutes(1),
              Runnable::run),
          (self, why) -> broken.add(why),
          now::get);

  @ParameterizedTest
  @CsvSource({
    "MESSAGE_TOO_LARGE, terminal kafka_too_large, MESSAGE",
    "INVALID_RECORD, terminal kafka_invalid_record, MESSAGE",
    "INVALID_TIMESTAMP, terminal kafka_invalid_record, MESSAGE",
    "INVALID_TOPIC_EXCEPTION, terminal kafka_invalid_topic, TOPIC",
    "UNKNOWN_TOPIC_OR_PARTITION, retryable kafka_unknown_topic, TOPIC",
    "UNKNOWN_TOPIC_ID, retryable kafka_unknown_topic, TOPIC",
    "TOPIC_AUTHORIZATION_FAILED, retryable kafka_topic_authorization, TOPIC",
    "SASL_AUTHENTICATION_FAILED, unavailable kafka_authentication, PRODUCER",
    "CLUSTER_AUTHORIZATION_FAILED, unavailable kafka_cluster_authorization, PRODUCER",
    "PRODUCER_FENCED, unavailable kafka_producer_failed, PRODUCER",
    "INVALID_PRODUCER_EPOCH, unavailable kafka_producer_failed, PRODUCER",
    "INVALID_PRODUCER_ID_MAPPING, unavailable kafka_producer_failed, PRODUCER",
    "OUT_OF_ORDER_SEQUENCE_NUMBER, unavailable kafka_producer_failed, PRODUCER",
    "UNKNOWN_PRODUCER_ID, unavailable kafka_producer_failed, PRODUCER",
    "UNSUPPORTED_VERSION, unavailable kafka_producer_failed, PRODUCER",
    "NOT_ENOUGH_REPLICAS, unavailable kafka_not_enough_replicas, TOPIC",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND, unavailable kafka_not_enough_replicas, TOPIC",
    "REQUEST_TIMED_OUT, unavailable kafka_timeout, DESTINATION",
    "NOT_LEADER_OR_FOLLOWER, unavailable kafka_unsettled, TOPIC",
    "CORRUPT_MESSAGE, unavailable kafka_unsettled, TOPIC",
    "UNKNOWN_SERVER_ERROR, retryable kafka_error, UNKNOWN",
    "POLICY_VIOLATION, retryable kafka_error, UNKNOWN",
  })
  void brokersCodes(Errors code, String expected, Scope scope) {
    SendFailure sendFailure = errors.of(code.exception(), Reach.NONE);
    assertThat(Sample.code(sendFailure.outcome())).isEqualTo(expected);
    assertThat(sendFailure.scope()).isEqualTo(scope);
  }

  @Test
  void whatSomebodyCanMendIsTerminalIfOneSaysSoAndNothingElseChanges() {
    KafkaErrors strict =
        new KafkaErrors(new SecretMask(Map.of()), Set.of("kafka_topic_authorization"));
    SendFailure sendFailure = strict.of(Errors.TOPIC_AUTHORIZATION_FAILED.exception(), Reach.NONE);
    assertThat(Sample.code(sendFailure.outcome())).isEqualTo("terminal kafka_topic_authorization");
    for (Errors code : Errors.values()) {
      if (code != Errors.NONE && code != Errors.TOPIC_AUTHORIZATION_FAILED) {
        assertThat(strict.of(code.exception(), Reach.NONE))
            .isEqualTo(errors.of(code.exception(), Reach.NONE));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(value = Errors.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void noErrorCountsAsDeliveredAndNoneThatMayPassAsDead(Errors code) {
    for (Reach reach : Reach.values()) {
      Outcome outcome = errors.of(code.exception(), reach).outcome();
      assertThat(outcome).isNotInstanceOf(Outcome.Delivered.class);
      if (code.exception() instanceof RetriableException) {
        assertThat(outcome).isNotInstanceOf(Outcome.Terminal.class);
      }
    }
  }

  @Test
  void aWaitForMetadataIsJudgedByWhatTheBrokerSaid() {
    TimeoutException unknown =
        new TimeoutException("after 500 ms", new UnknownTopicOrPartitionException("not here"));
    assertThat(Sample.code(errors.of(unknown, Reach.NONE).outcome()))
        .isEqualTo("retryable kafka_unknown_topic");
    TimeoutException election =
        new TimeoutException("after 500 ms", new LeaderNotAvailableException("soon"));
    assertThat(errors.of(election, Reach.NONE).scope()).isEqualTo(Scope.TOPIC);
    SendFailure silence = errors.of(new TimeoutException("after 500 ms"), Reach.NONE);
    assertThat(silence.scope()).isEqualTo(Scope.DESTINATION);
    assertThat(
            Sample.code(
                errors.of(new BufferExhaustedException("full"), Reach.ITS_PARTITION).outcome()))
        .isEqualTo("unavailable kafka_buffer_full");
  }

  @Test
  void whatSendThrowsEndsTheProducerUnlessItIsTheMessages() {
    KafkaException stuck =
        new KafkaException("in an error state", new SaslAuthenticationException("who?"));
    assertThat(errors.ofThrown(stuck).scope()).isEqualTo(Scope.PRODUCER);
    assertThat(errors.ofThrown(stuck).outcome()).isInstanceOf(Outcome.Unavailable.class);
    assertThat(errors.ofThrown(new RecordTooLargeException("large")).scope())
        .isEqualTo(Scope.MESSAGE);
  }

  private void pass(int seconds) {
    now.addAndGet(Duration.ofSeconds(seconds).toNanos());
  }

  private void delivered(int partition) {
    producer.acknowledged(UUID.randomUUID(), of(partition));
  }

  /** What becomes of a message that times out now. */
  private SendFailure timedOut(UUID id, RecordMetadata metadata) {
    return producer.failed(id, new TimeoutException("expired"), metadata);
  }

  private String codeOfTimeout(UUID id, RecordMetadata metadata) {
    return Sample.code(timedOut(id, metadata).outcome());
  }

  private static RecordMetadata of(int partition) {
    return new RecordMetadata(new TopicPartition("topic", partition), -1, -1, -1, -1, -1);
  }

  @Test
  @Tag("EN-18")
  void aTimeoutIsThePartitionsIfOthersArriveAndTheClustersIfNot() {
    UUID id = UUID.randomUUID();
    assertThat(codeOfTimeout(id, of(0))).isEqualTo("unavailable kafka_timeout");
    delivered(1);
    pass(9);
    assertThat(codeOfTimeout(id, of(0))).isEqualTo("not sent kafka_partition_away");
    assertThat(timedOut(id, of(0)).scope()).isEqualTo(Scope.PARTITION);
    assertThat(timedOut(id, null).scope()).isEqualTo(Scope.TOPIC);
    pass(2);
    assertThat(codeOfTimeout(id, of(0))).isEqualTo("unavailable kafka_timeout");
    assertThat(broken).isEmpty();
  }

  @Test
  @Tag("EN-18")
  void aTimeoutIsNobodysFaultIfItsPartitionTakesOthers() {
    delivered(0);
    delivered(1);
    pass(6);
    delivered(1);
    pass(6);
    assertThat(codeOfTimeout(UUID.randomUUID(), of(0))).isEqualTo("not sent kafka_partition_away");
    assertThat(codeOfTimeout(UUID.randomUUID(), of(1))).isEqualTo("not sent kafka_timeout");
    assertThat(codeOfTimeout(UUID.randomUUID(), null)).isEqualTo("not sent kafka_timeout");
  }

  @Test
  @Tag("EN-18")
  void aMessageMayWaitForItsPartitionAsLongAsItTakes() {
    UUID id = UUID.randomUUID();
    delivered(0);
    for (int i = 0; i < 100; i++) {
      pass(20);
      delivered(1);
      assertThat(codeOfTimeout(id, of(0))).isEqualTo("not sent kafka_partition_away");
    }
  }

  /** Otherwise a message that can never be written would block its key for good. */
  @Test
  void aMessageThatItsPartitionTakesOthersInsteadOfIsToBlameInTheEnd() {
    UUID id = UUID.randomUUID();
    for (int i = 0; i <= Overtaken.FREE; i++) {
      delivered(1);
      pass(20);
      delivered(i % 2);
      assertThat(codeOfTimeout(id, of(0))).startsWith("not sent");
      pass(1);
      delivered(0);
    }
    pass(20);
    delivered(1);
    assertThat(codeOfTimeout(id, of(0))).isEqualTo("retryable kafka_timeout");
    delivered(1);
    assertThat(codeOfTimeout(id, of(0))).as("nothing passed since").startsWith("not sent");
    pass(1);
    delivered(0);
    assertThat(codeOfTimeout(UUID.randomUUID(), of(0))).startsWith("not sent");
    producer.acknowledged(id, of(0));
    assertThat(codeOfTimeout(id, of(0))).startsWith("not sent");
  }

  @Test
  void errorsThatNobodyKnowsAndNothingElseEndAProducer() {
    KafkaException unknown = new KafkaException("what is this?");
    producer.failed(null, unknown, null);
    now.addAndGet(Duration.ofSeconds(4).toNanos());
    producer.failed(null, unknown, null);
    producer.acknowledged(UUID.randomUUID(), null);
    now.addAndGet(Duration.ofSeconds(4).toNanos());
    producer.failed(null, unknown, null);
    assertThat(broken).isEmpty();
    now.addAndGet(Duration.ofSeconds(5).toNanos());
    producer.failed(null, unknown, null);
    producer.failed(null, unknown, null);
    assertThat(broken).hasSize(1);
  }
}

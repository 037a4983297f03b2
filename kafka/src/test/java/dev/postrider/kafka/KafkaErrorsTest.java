package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.kafka.Arrivals.Reach;
import dev.postrider.kafka.SendFailure.Scope;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
          new LiveProducer.Patience(
              Duration.ofSeconds(10), new Arrivals(), Duration.ofMinutes(1), Runnable::run),
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

  @Test
  void aTimeoutIsThePartitionsIfOthersArriveAndTheClustersIfNot() {
    TimeoutException timeout = new TimeoutException("expired");
    RecordMetadata metadata = of(0);
    assertThat(producer.failed(timeout, metadata).outcome())
        .isInstanceOf(Outcome.Unavailable.class);
    producer.acknowledged(of(1));
    now.addAndGet(Duration.ofSeconds(9).toNanos());
    assertThat(producer.failed(timeout, metadata).outcome()).isInstanceOf(Outcome.Retryable.class);
    now.addAndGet(Duration.ofSeconds(2).toNanos());
    assertThat(producer.failed(timeout, metadata).outcome())
        .isInstanceOf(Outcome.Unavailable.class);
    assertThat(broken).isEmpty();
  }

  private static RecordMetadata of(int partition) {
    return new RecordMetadata(new TopicPartition("topic", partition), -1, -1, -1, -1, -1);
  }

  @Test
  @Tag("EN-18")
  void aTimeoutIsNobodysFaultIfItsPartitionTakesOthers() {
    TimeoutException timeout = new TimeoutException("expired");
    producer.acknowledged(of(0));
    producer.acknowledged(of(1));
    now.addAndGet(Duration.ofSeconds(6).toNanos());
    producer.acknowledged(of(1));
    now.addAndGet(Duration.ofSeconds(6).toNanos());
    assertThat(producer.failed(timeout, of(0)).outcome()).isInstanceOf(Outcome.Retryable.class);
    assertThat(producer.failed(timeout, of(1)).outcome()).isInstanceOf(Outcome.NotSent.class);
    assertThat(producer.failed(timeout, null).outcome()).isInstanceOf(Outcome.Retryable.class);
  }

  @Test
  void errorsThatNobodyKnowsAndNothingElseEndAProducer() {
    KafkaException unknown = new KafkaException("what is this?");
    producer.failed(unknown, null);
    now.addAndGet(Duration.ofSeconds(4).toNanos());
    producer.failed(unknown, null);
    producer.acknowledged(null);
    now.addAndGet(Duration.ofSeconds(4).toNanos());
    producer.failed(unknown, null);
    assertThat(broken).isEmpty();
    now.addAndGet(Duration.ofSeconds(5).toNanos());
    producer.failed(unknown, null);
    producer.failed(unknown, null);
    assertThat(broken).hasSize(1);
  }
}

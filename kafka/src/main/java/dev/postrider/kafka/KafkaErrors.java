package dev.postrider.kafka;

import dev.postrider.kafka.Acknowledgements.Reach;
import dev.postrider.kafka.GuardedPartitioner.PartitionerThrew;
import dev.postrider.kafka.SendFailure.Scope;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/** The table of errors: by class, never by text; the first that fits counts. Thread-safe. */
final class KafkaErrors {
  private static final int LONGEST = 500;
  private static final Duration SOON = Duration.ofMillis(50);

  /** For what waits for an outage of a part of the cluster. */
  private static final Duration LATER = Duration.ofSeconds(5);

  static final String PARTITION_AWAY = "kafka_partition_away";

  private enum Kind {
    TERMINAL,
    RETRYABLE,
    UNAVAILABLE,
    /**
     * Unavailable, unless others get through. Then its partition is away, or slow if it takes
     * others: the message is not to blame for waiting, unless it is overtaken again and again.
     */
    STALLED;

    Outcome outcome(String code, String error, Reach reach) {
      return switch (this) {
        case TERMINAL -> Outcome.terminal(code, error);
        case RETRYABLE -> Outcome.retryable(code, error);
        case UNAVAILABLE -> Outcome.unavailable(code, error);
        case STALLED ->
            switch (reach) {
              case NONE -> Outcome.unavailable(code, error);
              case ELSEWHERE -> Outcome.notSent(code, error, LATER);
              case OTHER_PARTITIONS -> partitionAway(error);
              case ITS_PARTITION -> Outcome.notSent(code, error, SOON);
              case OVERTAKEN -> Outcome.retryable(code, error);
            };
      };
    }

    /** What else the error says something about. If others get through, it is not all. */
    Scope scope(Scope usual, Reach reach) {
      if (this != STALLED) {
        return usual;
      }
      return switch (reach) {
        case NONE -> usual;
        case ELSEWHERE -> Scope.TOPIC;
        case OTHER_PARTITIONS -> Scope.PARTITION;
        case ITS_PARTITION, OVERTAKEN -> Scope.MESSAGE;
      };
    }
  }

  static Outcome partitionAway(String error) {
    return Outcome.notSent(PARTITION_AWAY, error, LATER);
  }

  private record Rule(Class<? extends Throwable> error, Kind kind, Scope scope, String code) {}

  private static final List<Rule> RULES =
      List.of(
          terminal(RecordTooLargeException.class, Scope.MESSAGE, "kafka_too_large"),
          terminal(InvalidRecordException.class, Scope.MESSAGE, "kafka_invalid_record"),
          terminal(InvalidTimestampException.class, Scope.MESSAGE, "kafka_invalid_record"),
          terminal(SerializationException.class, Scope.MESSAGE, "kafka_invalid_record"),
          new Rule(
              PartitionerThrew.class, Kind.RETRYABLE, Scope.MESSAGE, "kafka_partitioner_threw"),
          terminal(InvalidTopicException.class, Scope.TOPIC, "kafka_invalid_topic"),
          topic(UnknownTopicOrPartitionException.class, "kafka_unknown_topic"),
          topic(UnknownTopicIdException.class, "kafka_unknown_topic"),
          // An operator can grant what is missing; until then the backlog must not die.
          topic(TopicAuthorizationException.class, "kafka_topic_authorization"),
          fatal(AuthenticationException.class, "kafka_authentication"),
          fatal(ClusterAuthorizationException.class, "kafka_cluster_authorization"),
          fatal(ProducerFencedException.class, "kafka_producer_failed"),
          fatal(InvalidProducerEpochException.class, "kafka_producer_failed"),
          fatal(InvalidPidMappingException.class, "kafka_producer_failed"),
          fatal(OutOfOrderSequenceException.class, "kafka_producer_failed"),
          fatal(UnsupportedVersionException.class, "kafka_producer_failed"),
          fatal(IllegalStateException.class, "kafka_producer_failed"),
          new Rule(
              InterruptException.class, Kind.UNAVAILABLE, Scope.DESTINATION, "kafka_interrupted"),
          new Rule(
              BufferExhaustedException.class,
              Kind.UNAVAILABLE,
              Scope.DESTINATION,
              "kafka_buffer_full"),
          stalled(NotEnoughReplicasException.class, Scope.TOPIC, "kafka_not_enough_replicas"),
          stalled(
              NotEnoughReplicasAfterAppendException.class,
              Scope.TOPIC,
              "kafka_not_enough_replicas"),
          stalled(TimeoutException.class, Scope.DESTINATION, "kafka_timeout"),
          stalled(RetriableException.class, Scope.TOPIC, "kafka_unsettled"),
          new Rule(Throwable.class, Kind.RETRYABLE, Scope.UNKNOWN, "kafka_error"));

  /** What somebody can mend, so that users may see it either way: the topic, or who may write. */
  static final Set<String> MAY_BE_TERMINAL =
      RULES.stream()
          .filter(rule -> rule.kind() == Kind.RETRYABLE && rule.scope() == Scope.TOPIC)
          .map(Rule::code)
          .collect(Collectors.toCollection(TreeSet::new));

  private final SecretMask secrets;
  private final Set<String> deadAtOnce;

  /**
   * The table with one change.
   *
   * @param deadAtOnce codes, of {@link #MAY_BE_TERMINAL}, that are terminal here
   */
  KafkaErrors(SecretMask secrets, Set<String> deadAtOnce) {
    this.secrets = secrets;
    this.deadAtOnce = deadAtOnce;
  }

  private static Rule terminal(Class<? extends Throwable> error, Scope scope, String code) {
    return new Rule(error, Kind.TERMINAL, scope, code);
  }

  private static Rule topic(Class<? extends Throwable> error, String code) {
    return new Rule(error, Kind.RETRYABLE, Scope.TOPIC, code);
  }

  private static Rule fatal(Class<? extends Throwable> error, String code) {
    return new Rule(error, Kind.UNAVAILABLE, Scope.PRODUCER, code);
  }

  private static Rule stalled(Class<? extends Throwable> error, Scope scope, String code) {
    return new Rule(error, Kind.STALLED, scope, code);
  }

  /**
   * What became of a record.
   *
   * @param reach which other records were acknowledged lately
   */
  SendFailure of(Throwable error, Reach reach) {
    Throwable reason = reason(error);
    for (Rule rule : RULES) {
      if (rule.error().isInstance(reason)) {
        Kind kind = deadAtOnce.contains(rule.code()) ? Kind.TERMINAL : rule.kind();
        Outcome outcome = kind.outcome(rule.code(), text(error), reach);
        return new SendFailure(outcome, kind.scope(rule.scope(), reach));
      }
    }
    throw new AssertionError("the last rule fits everything");
  }

  /**
   * What {@code send} threw instead of handing it to the callback. The client does that when the
   * producer takes no more records: closed, or in an error it does not leave. Other code that it
   * calls, such as an interceptor, may throw anything.
   */
  SendFailure ofThrown(Throwable error) {
    SendFailure sendFailure = of(error, Reach.NONE);
    boolean clients = error instanceof KafkaException || error instanceof IllegalStateException;
    return sendFailure.scope() == Scope.MESSAGE
            || sendFailure.scope() == Scope.DESTINATION
            || !clients
        ? sendFailure
        : new SendFailure(
            Outcome.unavailable("kafka_producer_failed", text(error)), Scope.PRODUCER);
  }

  /** Whether it is an error that passes, and that hits whatever is sent there. */
  boolean isStall(Throwable error) {
    Throwable reason = reason(error);
    return RULES.stream()
        .filter(rule -> rule.error().isInstance(reason))
        .findFirst()
        .filter(rule -> rule.kind() == Kind.STALLED)
        .isPresent();
  }

  /** A wait that ended without metadata has, as its cause, what the broker said of the topic. */
  private static Throwable reason(Throwable error) {
    return error instanceof TimeoutException && error.getCause() instanceof ApiException cause
        ? cause
        : error;
  }

  /** The error and what caused it, without secrets. */
  String text(Throwable error) {
    StringBuilder text = new StringBuilder();
    Throwable next = error;
    for (int depth = 0; next != null && depth < 4; depth++) {
      text.append(depth == 0 ? "" : "; caused by ");
      text.append(next.getClass().getSimpleName()).append(": ").append(next.getMessage());
      next = next.getCause();
    }
    String clean = secrets.scrub(text.toString());
    return clean.length() > LONGEST ? clean.substring(0, LONGEST) : clean;
  }
}

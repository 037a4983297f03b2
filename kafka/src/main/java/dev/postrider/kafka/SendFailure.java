package dev.postrider.kafka;

import dev.postrider.message.Outcome;

/**
 * What an error of the client means. Immutable.
 *
 * @param outcome the answer for the message
 * @param scope what else it says something about
 */
record SendFailure(Outcome outcome, Scope scope) {
  /**
   * Whether it is about the message or where it goes, rather than the cluster or nothing at all.
   */
  boolean blames() {
    return scope == Scope.PARTITION || blames(outcome);
  }

  static boolean blames(Outcome outcome) {
    return outcome instanceof Outcome.Terminal
        || outcome instanceof Outcome.Retryable
        || (outcome instanceof Outcome.NotSent unsent
            && unsent.code().equals(KafkaErrors.PARTITION_AWAY));
  }

  enum Scope {
    /** Nothing but this message. */
    MESSAGE,
    /** Every message for its partition, while other partitions take theirs. */
    PARTITION,
    /** Every message for the topic. */
    TOPIC,
    /** Every message that is sent now. */
    DESTINATION,
    /** The producer: it never sends again. */
    PRODUCER,
    /** Perhaps the producer: we do not know the error. */
    UNKNOWN
  }
}

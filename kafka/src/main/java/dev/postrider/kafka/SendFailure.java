package dev.postrider.kafka;

import dev.postrider.message.Outcome;

/**
 * What an error of the client means. Immutable.
 *
 * @param outcome the answer for the message
 * @param scope what else it says something about
 */
record SendFailure(Outcome outcome, Scope scope) {
  enum Scope {
    /** Nothing but this message. */
    MESSAGE,
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

/**
 * Carries messages to Apache Kafka: in come batches of the dispatcher, out go records and one
 * answer per message, given when the broker has the record on every replica in sync. The entry is
 * {@link dev.postrider.kafka.KafkaDestination}. Nothing here knows the store or the relay.
 */
@NullMarked
package dev.postrider.kafka;

import org.jspecify.annotations.NullMarked;

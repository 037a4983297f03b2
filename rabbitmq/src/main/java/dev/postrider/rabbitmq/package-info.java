/**
 * RabbitMQ as a destination, and as a source for the inbox. In come batches of messages, out come
 * answers: delivered only after the broker's confirm. The topology is configuration. Nothing here
 * touches Postrider's tables but the inbox.
 */
@NullMarked
package dev.postrider.rabbitmq;

import org.jspecify.annotations.NullMarked;

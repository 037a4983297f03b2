package dev.postrider.rabbitmq;

import java.time.Duration;

/**
 * How a queue is consumed. Immutable.
 *
 * @param consumer the name under which the inbox remembers what was handled
 * @param prefetch messages that the broker sends ahead on each channel
 * @param channels how many messages are handled at the same time; only with one in the queue's
 *     order
 * @param maxDeliveries after so many failures a message is rejected into the dead letters; on a
 *     quorum queue processes that died while it was handled count as well
 * @param retryDelay how long a message that failed waits before it is handled again
 * @param shutdownTimeout for the handlers that run when the consumer is closed
 */
public record ConsumerConfig(
    Broker broker,
    String queue,
    String consumer,
    int prefetch,
    int channels,
    int maxDeliveries,
    Duration retryDelay,
    Duration shutdownTimeout) {

  public ConsumerConfig {
    new Violations()
        .name("a queue", queue)
        .check(
            !consumer.isBlank() && consumer.length() <= 200,
            "a consumer of 1..200 characters",
            consumer)
        .check(prefetch >= 1 && prefetch <= 10_000, "prefetch 1..10000", prefetch)
        .check(channels >= 1 && channels <= 64, "channels 1..64", channels)
        .check(maxDeliveries >= 1 && maxDeliveries <= 1000, "maxDeliveries 1..1000", maxDeliveries)
        .range("retryDelay", retryDelay, Duration.ZERO, Duration.ofMinutes(10))
        .range("shutdownTimeout", shutdownTimeout, Duration.ZERO, Duration.ofMinutes(10))
        .report("RabbitMQ consumer");
  }

  /** One message after the other, each five times at most, a second apart. */
  public static ConsumerConfig of(Broker broker, String queue, String consumer) {
    return new ConsumerConfig(
        broker, queue, consumer, 20, 1, 5, Duration.ofSeconds(1), Duration.ofSeconds(20));
  }

  public ConsumerConfig withPrefetch(int value) {
    return new ConsumerConfig(
        broker, queue, consumer, value, channels, maxDeliveries, retryDelay, shutdownTimeout);
  }

  public ConsumerConfig withChannels(int value) {
    return new ConsumerConfig(
        broker, queue, consumer, prefetch, value, maxDeliveries, retryDelay, shutdownTimeout);
  }

  public ConsumerConfig withMaxDeliveries(int value) {
    return new ConsumerConfig(
        broker, queue, consumer, prefetch, channels, value, retryDelay, shutdownTimeout);
  }

  public ConsumerConfig withRetryDelay(Duration value) {
    return new ConsumerConfig(
        broker, queue, consumer, prefetch, channels, maxDeliveries, value, shutdownTimeout);
  }

  public ConsumerConfig withShutdownTimeout(Duration value) {
    return new ConsumerConfig(
        broker, queue, consumer, prefetch, channels, maxDeliveries, retryDelay, value);
  }
}

package dev.postrider.bench;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * What anyone would write who has the messages in memory: the client as it comes, one channel,
 * persistent messages, a thousand on their way at a time. Its queue is empty when it begins. Used
 * by one thread.
 */
final class BarePublisher implements AutoCloseable {
  static final String EXCHANGE = "bench";
  private static final String QUEUE = "bench";
  private static final int WINDOW = 1000;
  private static final long CONFIRM_MILLIS = 60_000;

  private final Connection connection;
  private final Channel channel;

  BarePublisher(int port) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setHost("127.0.0.1");
    factory.setPort(port);
    connection = factory.newConnection();
    channel = connection.createChannel();
    channel.exchangeDeclare(EXCHANGE, "topic", true);
    channel.queueDeclare(QUEUE, true, false, false, Map.of());
    channel.queueBind(QUEUE, EXCHANGE, "#");
    channel.queuePurge(QUEUE);
  }

  /** Messages per second, until the last is confirmed. */
  double publish(List<byte[]> bodies) throws Exception {
    Semaphore window = new Semaphore(WINDOW);
    ConcurrentNavigableMap<Long, Boolean> unconfirmed = new ConcurrentSkipListMap<>();
    channel.confirmSelect();
    channel.addConfirmListener(
        (number, multiple) -> window.release(confirmed(unconfirmed, number, multiple)),
        (number, multiple) -> {
          throw new IllegalStateException("the broker refused message " + number);
        });
    long start = System.nanoTime();
    for (byte[] body : bodies) {
      acquire(window, 1);
      unconfirmed.put(channel.getNextPublishSeqNo(), true);
      channel.basicPublish(EXCHANGE, "orders", true, properties(), body);
    }
    acquire(window, WINDOW);
    double rate = bodies.size() / ((System.nanoTime() - start) / 1e9);
    expect(bodies.size());
    return rate;
  }

  /** Messages per second, each of them confirmed before the next, with the relay's headers. */
  double publishOneByOne(List<byte[]> bodies) throws Exception {
    channel.confirmSelect();
    long start = System.nanoTime();
    for (int i = 0; i < bodies.size(); i++) {
      BasicProperties plain = properties();
      BasicProperties properties =
          plain
              .builder()
              .timestamp(Date.from(Instant.now()))
              .headers(headers(plain.getMessageId(), i))
              .build();
      channel.basicPublish(EXCHANGE, "orders", true, properties, bodies.get(i));
      channel.waitForConfirmsOrDie(CONFIRM_MILLIS);
    }
    double rate = bodies.size() / ((System.nanoTime() - start) / 1e9);
    expect(bodies.size());
    return rate;
  }

  private static Map<String, Object> headers(String id, int number) {
    return Map.of(
        "x-event-id",
        id,
        "x-key",
        "hot",
        "x-sequence",
        Integer.toString(number),
        "x-attempts",
        "1",
        "x-fencing-token",
        Integer.toString(number));
  }

  private static BasicProperties properties() {
    return new BasicProperties.Builder()
        .messageId(UUID.randomUUID().toString())
        .contentType("application/json")
        .deliveryMode(2)
        .build();
  }

  private static int confirmed(
      ConcurrentNavigableMap<Long, Boolean> unconfirmed, long number, boolean multiple) {
    if (!multiple) {
      return unconfirmed.remove(number) == null ? 0 : 1;
    }
    ConcurrentNavigableMap<Long, Boolean> all = unconfirmed.headMap(number, true);
    int count = all.size();
    all.clear();
    return count;
  }

  private static void acquire(Semaphore window, int permits) throws InterruptedException {
    if (!window.tryAcquire(permits, 1, TimeUnit.MINUTES)) {
      throw new IllegalStateException("the broker does not confirm");
    }
  }

  /** Fails if the queue does not hold so many. */
  void expect(int messages) throws Exception {
    long ready = channel.messageCount(QUEUE);
    if (ready != messages) {
      throw new IllegalStateException(ready + " messages in the queue, not " + messages);
    }
  }

  @Override
  public void close() throws Exception {
    connection.abort(5000);
  }
}

package dev.postrider.verify.chaos;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import dev.postrider.verify.chaos.InboxSink.Received;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Reads a queue in its order, with one consumer. Connects again for as long as it takes. */
final class RabbitConsumer implements Runnable {
  private static final int PREFETCH = 200;

  private final Scene scene;
  private final String queue;
  private final InboxSink sink;

  RabbitConsumer(Scene scene, String queue, InboxSink sink) {
    this.scene = scene;
    this.queue = queue;
    this.sink = sink;
  }

  @Override
  public void run() {
    while (true) {
      try {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri(scene.amqpUri());
        factory.setAutomaticRecoveryEnabled(false);
        try (Connection connection = factory.newConnection()) {
          consume(connection.createChannel());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (Exception e) {
        pause(); // the broker is away
      }
    }
  }

  private void consume(Channel channel) throws Exception {
    BlockingQueue<Delivery> deliveries = new LinkedBlockingQueue<>();
    channel.basicQos(PREFETCH);
    channel.basicConsume(
        queue, false, (tag, delivery) -> deliveries.add(delivery), (tag, reason) -> {});
    while (channel.isOpen()) {
      Delivery first = deliveries.poll(200, TimeUnit.MILLISECONDS);
      if (first == null) {
        continue;
      }
      List<Delivery> batch = new ArrayList<>(List.of(first));
      deliveries.drainTo(batch, PREFETCH - 1);
      sink.take(batch.stream().map(RabbitConsumer::received).toList());
      channel.basicAck(batch.get(batch.size() - 1).getEnvelope().getDeliveryTag(), true);
    }
  }

  private static Received received(Delivery delivery) {
    Map<String, String> headers = new HashMap<>();
    delivery.getProperties().getHeaders().forEach((k, v) -> headers.put(k, String.valueOf(v)));
    headers.putIfAbsent("x-event-id", delivery.getProperties().getMessageId());
    return new Received(new String(delivery.getBody(), StandardCharsets.UTF_8), headers);
  }

  private static void pause() {
    LockSupport.parkNanos(200_000_000);
  }
}

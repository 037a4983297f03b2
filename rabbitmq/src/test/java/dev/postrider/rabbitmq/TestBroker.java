package dev.postrider.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.postrider.testkit.Arrival;
import dev.postrider.testkit.RabbitServer;
import dev.postrider.testkit.TestRabbit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A look at a broker from the side, by a plain client. Tests that do not harm the broker share one,
 * and take names of their own. Used by one thread.
 */
final class TestBroker implements AutoCloseable {
  private final String uri;
  private Connection connection;
  private Channel channel;

  private TestBroker(String uri) {
    this.uri = uri;
  }

  TestBroker(RabbitServer server) {
    this(server.uri());
  }

  /** The broker for tests that leave it as they found it. */
  static TestBroker shared() {
    return new TestBroker(TestRabbit.uri());
  }

  /** Where it is, for what is tested. */
  Broker broker() {
    return Broker.uri(uri).build();
  }

  static String unique(String name) {
    return name + "-" + UUID.randomUUID();
  }

  /** A channel, a new one if the last was closed by the broker or with it. */
  Channel channel() throws Exception {
    if (connection == null || !connection.isOpen()) {
      connection = newConnection();
      channel = null;
    }
    if (channel == null || !channel.isOpen()) {
      channel = connection.createChannel();
    }
    return channel;
  }

  /** For the caller to close. */
  Connection newConnection() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(uri);
    factory.setAutomaticRecoveryEnabled(false);
    return factory.newConnection();
  }

  Connection connection() throws Exception {
    return channel().getConnection();
  }

  /** A topic exchange and a durable queue that gets everything from it, both of this name. */
  void exchangeAndQueue(String name, Map<String, Object> arguments) throws Exception {
    channel().exchangeDeclare(name, "topic", true);
    channel().queueDeclare(name, true, false, false, arguments);
    channel().queueBind(name, name, "#");
  }

  /** Takes everything that is in the queue now; nobody else takes from it. */
  List<GetResponse> take(String queue) throws Exception {
    int count = (int) ready(queue);
    List<GetResponse> taken = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch all = new CountDownLatch(count);
    Channel own = channel();
    own.basicQos(500); // no more come than are asked for: the rest goes back
    String tag =
        own.basicConsume(
            queue,
            false,
            (unused, delivery) -> {
              if (taken.size() < count) {
                taken.add(
                    new GetResponse(
                        delivery.getEnvelope(), delivery.getProperties(), delivery.getBody(), 0));
                own.basicAck(delivery.getEnvelope().getDeliveryTag(), false);
                all.countDown();
              }
            },
            unused -> {});
    if (!all.await(60, TimeUnit.SECONDS)) {
      throw new AssertionError(all.getCount() + " of " + count + " did not come");
    }
    own.basicCancel(tag);
    own.close();
    return List.copyOf(taken);
  }

  static Arrival arrival(GetResponse response) {
    Map<String, String> headers = new HashMap<>();
    response.getProps().getHeaders().forEach((name, value) -> headers.put(name, value.toString()));
    return new Arrival(
        UUID.fromString(response.getProps().getMessageId()), response.getBody(), headers);
  }

  long ready(String queue) throws Exception {
    return channel().messageCount(queue);
  }

  @Override
  public void close() throws Exception {
    if (connection != null) {
      connection.abort(2000);
    }
  }
}

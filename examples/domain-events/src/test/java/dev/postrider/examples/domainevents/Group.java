package dev.postrider.examples.domainevents;

import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.postrider.examples.stage.Stage;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.testkit.RabbitServer;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testkit.TestRabbit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The group on a database of its own and a broker of ours, since the queues have fixed names; and a
 * plain client that looks on. Used by one thread.
 */
final class Group implements AutoCloseable {
  final TestPostgres database = TestPostgres.start();
  final RabbitServer server = TestRabbit.own();
  final Broker broker = Broker.uri(server.uri()).build();
  final Company north = new Company(database.dataSource(), "acme", "north");
  private final Connection connection;
  final Channel channel;

  Group() {
    try {
      Stage.createTables(database.dataSource(), Main.class);
      Events.topology().declare(broker);
      ConnectionFactory factory = new ConnectionFactory();
      factory.setUri(server.uri());
      connection = factory.newConnection();
      channel = connection.createChannel();
      for (String queue : Consumers.EFFECTS.keySet()) {
        channel.queuePurge(queue);
        channel.queuePurge(queue + ".dlq");
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** A queue of its own that gets every event as well, until the connection ends. */
  String tap() throws Exception {
    String queue = channel.queueDeclare().getQueue();
    channel.queueBind(queue, Events.EXCHANGE, "#");
    return queue;
  }

  /** The next so many messages of a queue. */
  List<GetResponse> take(String queue, int count) {
    List<GetResponse> taken = new ArrayList<>();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              GetResponse next = channel.basicGet(queue, true);
              if (next != null) {
                taken.add(next);
              }
              return taken.size() == count;
            });
    return taken;
  }

  void untilCount(int expected, String sql) {
    await().atMost(Duration.ofSeconds(30)).until(() -> database.count(sql) == expected);
  }

  @Override
  public void close() throws Exception {
    connection.close();
    database.close();
  }
}

package dev.postrider.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Declares a topology on one connection, each thing on a channel of its own, because the broker
 * closes the channel on which something differs. Used by one thread.
 */
final class Declaring {
  /**
   * {@code … inequivalent arg 'durable' for queue 'q' in vhost '/': received … but current is …}
   */
  private static final Pattern INEQUIVALENT =
      Pattern.compile("inequivalent arg '([^']+)' for .*: received (.+) but current is (.+)");

  private final Connection connection;
  private final List<String> differences = new ArrayList<>();

  private Declaring(Connection connection) {
    this.connection = connection;
  }

  static void on(Connection connection, Topology topology) {
    Declaring declaring = new Declaring(connection);
    topology.exchanges().forEach(declaring::exchange);
    topology.queues().forEach(declaring::queue);
    topology.bindings().forEach(declaring::binding);
    if (!declaring.differences.isEmpty()) {
      throw new TopologyException(declaring.differences);
    }
  }

  private interface Step {
    void on(Channel channel) throws IOException;
  }

  private void exchange(Topology.Exchange exchange) {
    step(
        "exchange '" + exchange.name() + "' (type " + exchange.type() + ", durable)",
        channel -> channel.exchangeDeclare(exchange.name(), exchange.type(), true));
  }

  private void queue(Topology.Queue queue) {
    Map<String, Object> arguments = new TreeMap<>(queue.arguments());
    arguments.put("x-queue-type", queue.type().label());
    step(
        "queue '" + queue.name() + "' (durable, " + arguments + ")",
        channel -> channel.queueDeclare(queue.name(), true, false, false, arguments));
  }

  private void binding(Topology.Binding binding) {
    step(
        "binding of queue '%s' to exchange '%s' by '%s'"
            .formatted(binding.queue(), binding.exchange(), binding.routingKey()),
        channel -> channel.queueBind(binding.queue(), binding.exchange(), binding.routingKey()));
  }

  private void step(String what, Step step) {
    try {
      Channel channel = connection.createChannel();
      if (channel == null) {
        throw new IOException("the broker allows no more channels on this connection");
      }
      step.on(channel);
      channel.abort();
    } catch (IOException | ShutdownSignalException e) {
      differences.add(difference(what, Replies.text(e)));
    }
  }

  static String difference(String what, String reply) {
    Matcher inequivalent = INEQUIVALENT.matcher(reply);
    return inequivalent.find()
        ? "%s: for %s we ask for %s, the broker has %s"
            .formatted(what, inequivalent.group(1), inequivalent.group(2), inequivalent.group(3))
        : what + ": the broker refuses it: " + reply;
  }
}

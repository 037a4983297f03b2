package dev.postrider.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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

  private static final Pattern ARGUMENT = Pattern.compile("inequivalent arg '([^']+)'");

  /** {@code 'billing'} or {@code the value 'billing' of type 'longstr'}. */
  private static final Pattern VALUE = Pattern.compile("(?:the value )?'(.*?)'(?: of type .*)?");

  private final Connection connection;
  private final Topology topology;
  private final List<String> differences = new ArrayList<>();
  private boolean losesDeadLetters;

  private Declaring(Connection connection, Topology topology) {
    this.connection = connection;
    this.topology = topology;
  }

  static void on(Connection connection, Topology topology) {
    Declaring declaring = new Declaring(connection, topology);
    topology.exchanges().forEach(declaring::exchange);
    topology.queues().forEach(declaring::queue);
    topology.bindings().forEach(declaring::binding);
    if (!declaring.differences.isEmpty()) {
      // Unknown without a connection.
      throw new TopologyException(
          declaring.differences, declaring.losesDeadLetters && connection.isOpen());
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
    String reply =
        step(
            "queue '" + queue.name() + "' (durable, " + arguments + ")",
            channel -> channel.queueDeclare(queue.name(), true, false, false, arguments));
    Optional<DeadLetterPath> path = DeadLetterPath.of(queue);
    losesDeadLetters |= reply != null && path.isPresent() && !keeps(path.get(), reply);
  }

  /**
   * Whether the queue's dead letters arrive although the broker has the queue otherwise. A reply
   * that is cut off before it says what the broker has counts as no.
   */
  private boolean keeps(DeadLetterPath path, String reply) {
    Matcher argument = ARGUMENT.matcher(reply);
    if (!argument.find() || !DeadLetterPath.ARGUMENTS.contains(argument.group(1))) {
      return true; // it has these arguments as we have them, or there is no such queue
    }
    Matcher inequivalent = INEQUIVALENT.matcher(reply);
    Matcher value = VALUE.matcher(inequivalent.find() ? inequivalent.group(3) : "");
    return path.with(argument.group(1), value.matches() ? value.group(1) : null)
        .filter(topology::keeps)
        .isPresent();
  }

  private void binding(Topology.Binding binding) {
    String reply =
        step(
            "binding of queue '%s' to exchange '%s' by '%s'"
                .formatted(binding.queue(), binding.exchange(), binding.routingKey()),
            channel ->
                channel.queueBind(binding.queue(), binding.exchange(), binding.routingKey()));
    losesDeadLetters |=
        reply != null
            && topology.queues().stream()
                .flatMap(queue -> DeadLetterPath.of(queue).stream())
                .anyMatch(path -> path.exchange().equals(binding.exchange()));
  }

  /** Null, or why it could not be done. */
  private @Nullable String step(String what, Step step) {
    try {
      Channel channel = connection.createChannel();
      if (channel == null) {
        throw new IOException("the broker allows no more channels on this connection");
      }
      step.on(channel);
      channel.abort();
      return null;
    } catch (IOException | ShutdownSignalException e) {
      String reply = Replies.text(e);
      differences.add(difference(what, reply));
      return reply;
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

package dev.postrider.rabbitmq;

import dev.postrider.rabbitmq.Topology.Binding;
import dev.postrider.rabbitmq.Topology.Exchange;
import dev.postrider.rabbitmq.Topology.Queue;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where a queue's rejected and expired messages go. The broker drops them without a word if no
 * queue is bound for them. Immutable.
 *
 * @param key null if messages keep their own
 */
record DeadLetterPath(String queue, String exchange, @Nullable String key) {
  static final String EXCHANGE = "x-dead-letter-exchange";
  static final String KEY = "x-dead-letter-routing-key";

  static final Set<String> ARGUMENTS = Set.of(EXCHANGE, KEY);

  /** The default exchange, which leads to the queue that the key names. */
  private static final String DEFAULT = "";

  /** Empty if the queue has no dead letters. */
  static Optional<DeadLetterPath> of(Queue queue) {
    Object exchange = queue.arguments().get(EXCHANGE);
    Object key = queue.arguments().get(KEY);
    return Optional.ofNullable(exchange)
        .map(
            name ->
                new DeadLetterPath(
                    queue.name(), name.toString(), key == null ? null : key.toString()));
  }

  /** The same with the argument that the broker has instead of ours; empty if it has none. */
  Optional<DeadLetterPath> with(String argument, @Nullable String value) {
    if (argument.equals(KEY)) {
      return Optional.of(new DeadLetterPath(queue, exchange, value));
    }
    return Optional.ofNullable(value).map(name -> new DeadLetterPath(queue, name, key));
  }

  /** What a topology must have for it. */
  String expected() {
    return "a declared dead-letter exchange '%s' with a queue bound for %s"
        .formatted(exchange, key == null ? "every routing key" : "'" + key + "'");
  }

  /** Whether a queue gets what goes this way, by what is declared. */
  boolean leadsSomewhere(List<Exchange> exchanges, List<Queue> queues, List<Binding> bindings) {
    if (exchange.equals(DEFAULT)) {
      return queues.stream().anyMatch(declared -> declared.name().equals(key));
    }
    return exchanges.stream()
        .filter(declared -> declared.name().equals(exchange))
        .anyMatch(
            declared ->
                bindings.stream()
                    .filter(binding -> binding.exchange().equals(exchange))
                    .anyMatch(binding -> matches(declared.type(), binding.routingKey())));
  }

  private boolean matches(String type, String pattern) {
    return switch (type) {
      case "direct" -> pattern.equals(key);
      case "topic" ->
          key == null ? pattern.equals("#") : topic(pattern).matcher("." + key).matches();
      default -> true; // fanout ignores the key, headers too; others have rules of their own
    };
  }

  /** {@code *} is one word, {@code #} any number of them; each word with a dot before it. */
  private static Pattern topic(String pattern) {
    return Pattern.compile(
        Stream.of(pattern.split("\\.", -1))
            .map(
                word ->
                    switch (word) {
                      case "*" -> "\\.[^.]*";
                      case "#" -> "(\\.[^.]*)*";
                      default -> Pattern.quote("." + word);
                    })
            .collect(Collectors.joining()));
  }
}

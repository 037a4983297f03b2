package dev.postrider.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Delivery;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message as a consumer sees it. The body is shared: do not write to it.
 *
 * @param headers whatever they were, as text
 */
public record Received(
    UUID id,
    String exchange,
    String routingKey,
    @Nullable String contentType,
    Map<String, String> headers,
    byte[] body) {

  /** Null if it has no id that the inbox could know it by. */
  static @Nullable Received of(Delivery delivery) {
    BasicProperties properties = delivery.getProperties();
    UUID id = id(properties.getMessageId());
    if (id == null) {
      return null;
    }
    Map<String, String> headers = new LinkedHashMap<>();
    Map<String, Object> all = properties.getHeaders();
    if (all != null) {
      all.forEach((name, value) -> headers.put(name, String.valueOf(value)));
    }
    return new Received(
        id,
        delivery.getEnvelope().getExchange(),
        delivery.getEnvelope().getRoutingKey(),
        properties.getContentType(),
        headers,
        delivery.getBody());
  }

  private static @Nullable UUID id(@Nullable String text) {
    try {
      return text == null ? null : UUID.fromString(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}

package dev.postrider.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import dev.postrider.envelope.Sealed;
import dev.postrider.internal.envelope.EventHeaders;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes publications of messages, and says which can never be one. Thread-safe. */
final class PublicationFactory {
  private static final String CLOUD_EVENTS = "cloudEvents:";
  private static final int PERSISTENT = 2;

  /** The broker routes by these, and closes the channel if they are text. */
  private static final Set<String> ROUTING_HEADERS = Set.of("CC", "BCC");

  private final RabbitConfig config;

  PublicationFactory(RabbitConfig config) {
    this.config = config;
  }

  /** Either a publication or why there is none. */
  record Prepared(@Nullable Publication publication, @Nullable Outcome refused) {}

  Prepared prepare(Message message) {
    try {
      Sealed sealed = config.envelope().seal(message);
      Publication publication =
          new Publication(
              config.exchange().fill(message),
              config.routingKey().fill(message),
              properties(message, sealed),
              sealed.body());
      Outcome refused = check(publication);
      return new Prepared(refused == null ? publication : null, refused);
    } catch (PostriderException e) {
      return new Prepared(null, Outcome.terminal("no_address", String.valueOf(e.getMessage())));
    } catch (RuntimeException | Error e) {
      // A user's envelope: its message fails, the others of the batch do not.
      return new Prepared(null, Outcome.retryable("envelope_threw", ErrorReport.of(e)));
    }
  }

  private static BasicProperties properties(Message message, Sealed sealed) {
    Map<String, Object> headers = new HashMap<>(EventHeaders.of(message));
    sealed.attributes().forEach((name, value) -> headers.put(CLOUD_EVENTS + name, value));
    return new BasicProperties.Builder()
        .messageId(message.id().toString())
        .contentType(sealed.contentType())
        .deliveryMode(PERSISTENT)
        .timestamp(Date.from(message.createdAt()))
        .headers(headers)
        .build();
  }

  private @Nullable Outcome check(Publication publication) {
    if (publication.body().length > config.maxMessageBytes()) {
      return Outcome.terminal(
          "too_large",
          publication.body().length + " bytes, the limit is " + config.maxMessageBytes());
    }
    for (String name : publication.properties().getHeaders().keySet()) {
      if (ROUTING_HEADERS.contains(name) || !Violations.fits(name)) {
        return Outcome.terminal(
            "bad_header", "RabbitMQ cannot take a header called " + Violations.quoted(name));
      }
    }
    return checkName(
        publication.exchange(),
        "exchange",
        checkName(publication.routingKey(), "routing key", null));
  }

  private static @Nullable Outcome checkName(String name, String what, @Nullable Outcome before) {
    return before != null || Violations.fits(name)
        ? before
        : Outcome.terminal(
            "name_too_long",
            "the " + what + " " + Violations.quoted(name) + " has more than 255 bytes");
  }
}

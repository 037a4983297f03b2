package dev.postrider.spring;

import dev.postrider.destination.Destination;
import dev.postrider.destination.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import io.micrometer.observation.transport.SenderContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Observes publishing, handling and delivering. With tracing, the trace of the publisher travels in
 * the headers of the message, so that handlers and the consumers of a broker continue it.
 * Thread-safe.
 */
final class Observations implements PublishScope, HandlerScope, DeliveryScope {
  private final ObservationRegistry registry;

  Observations(ObservationRegistry registry) {
    this.registry = registry;
  }

  @Override
  public <T> T run(List<NewMessage> messages, Function<List<NewMessage>, T> write) {
    if (messages.isEmpty()) {
      return write.apply(messages);
    }
    Map<String, String> headers = new HashMap<>();
    SenderContext<Map<String, String>> context =
        new SenderContext<>(
            (carrier, name, value) -> {
              if (carrier != null) {
                carrier.put(name, value);
              }
            },
            Kind.PRODUCER);
    context.setCarrier(headers);
    NewMessage first = messages.get(0);
    T answer =
        Observation.createNotStarted("outbox.publish", () -> context, registry)
            .contextualName(first.route() + " publish")
            .lowCardinalityKeyValue("namespace", first.route().namespace())
            .lowCardinalityKeyValue("topic", first.route().topic())
            .observe(
                () ->
                    write.apply(messages.stream().map(message -> with(headers, message)).toList()));
    return Objects.requireNonNull(answer);
  }

  /** Headers of the message's own are kept. */
  private static NewMessage with(Map<String, String> headers, NewMessage message) {
    if (headers.isEmpty()) {
      return message;
    }
    Map<String, String> all = new HashMap<>(headers);
    all.putAll(message.headers());
    return new NewMessage(
        message.route(),
        message.payload(),
        message.contentType(),
        message.key(),
        message.dedupeKey(),
        message.tenant(),
        message.aggregateType(),
        message.aggregateId(),
        message.eventType(),
        all,
        message.notBefore(),
        message.id(),
        message.content());
  }

  @Override
  public Outcome call(String name, Message message, MessageHandler handler) throws Exception {
    Outcome outcome =
        received("handle", Kind.CONSUMER, message)
            .lowCardinalityKeyValue("handler", name)
            .observeChecked(() -> handler.handle(message));
    return Objects.requireNonNull(outcome);
  }

  @Override
  public Destination around(String name, Destination destination) {
    return new ObservedDestination(
        destination,
        message ->
            received("deliver", Kind.PRODUCER, message)
                .lowCardinalityKeyValue("destination", name)
                .start());
  }

  /** Continues the trace of the publisher. */
  private Observation received(String what, Kind kind, Message message) {
    ReceiverContext<Message> context =
        new ReceiverContext<>(
            (carrier, key) -> carrier == null ? null : carrier.headers().get(key), kind);
    context.setCarrier(message);
    return Observation.createNotStarted("outbox." + what, () -> context, registry)
        .contextualName(message.route() + " " + what)
        .lowCardinalityKeyValue("namespace", message.route().namespace())
        .lowCardinalityKeyValue("topic", message.route().topic())
        .highCardinalityKeyValue("message.id", message.id().toString());
  }
}

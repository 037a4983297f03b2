package dev.postrider.envelope;

import dev.postrider.message.Message;
import dev.postrider.message.PostriderException;
import java.util.Map;

/** Turns a message into the body that consumers read. Thread-safe. */
@FunctionalInterface
public interface Envelope {
  Sealed seal(Message message);

  /** The payload alone, as it was enqueued. */
  static Envelope payload() {
    return message -> new Sealed(message.contentType(), message.payload(), Map.of());
  }

  /** One JSON object with the event's names, tenant, time and payload. */
  static Envelope standard() {
    return StandardEnvelope::seal;
  }

  /**
   * CloudEvents 1.0 with the payload as body and the attributes beside it.
   *
   * @param source the URI reference of the service whose events these are
   */
  static Envelope cloudEventsBinary(String source) {
    return new CloudEvents(source)::binary;
  }

  /** CloudEvents 1.0 as one JSON object. */
  static Envelope cloudEventsStructured(String source) {
    return new CloudEvents(source)::structured;
  }

  /**
   * By its name in a configuration.
   *
   * @param name {@code payload}, {@code standard}, {@code cloudevents-binary} or {@code
   *     cloudevents-structured}
   */
  static Envelope named(String name, String source) {
    return switch (name) {
      case "payload" -> payload();
      case "standard" -> standard();
      case "cloudevents-binary" -> cloudEventsBinary(source);
      case "cloudevents-structured" -> cloudEventsStructured(source);
      default ->
          throw new PostriderException(
              "no envelope is called \""
                  + name
                  + "\"; expected payload, standard, cloudevents-binary or cloudevents-structured");
    };
  }
}

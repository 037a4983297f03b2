package dev.postrider.message;

/**
 * Converts values to JSON and back, with the JSON library of the application. The core depends on
 * none. {@code dev.postrider.jackson} has codecs for Jackson 2 and 3; implement this interface for
 * another library. Implementations must be thread-safe.
 */
public interface JsonCodec {

  /**
   * Writes a value as one JSON document.
   *
   * @throws Exception if the value cannot be written; the message should name the property
   */
  String write(Object value) throws Exception;

  /**
   * Reads one JSON document.
   *
   * @throws Exception if the JSON does not fit the type; the message should name the property
   */
  <T> T read(String json, Class<T> type) throws Exception;

  /**
   * Reads the payload of a message. A {@code HandlerDestination} whose handler lets the exception
   * through marks the message as dead at once: another try would fail in the same way.
   *
   * @throws UnreadablePayloadException if the payload is not JSON or does not fit the type
   */
  default <T> T read(Message message, Class<T> type) {
    if (!message.json()) {
      throw new UnreadablePayloadException(
          "the payload is %s, expected JSON for %s"
              .formatted(message.contentType(), type.getName()),
          null);
    }
    try {
      return read(message.text(), type);
    } catch (Exception e) {
      throw new UnreadablePayloadException(
          "the payload could not be read as %s: %s".formatted(type.getName(), reason(e)), e);
    }
  }

  /**
   * Encodes the payload of a message that was built with {@link NewMessage.Builder#json(Object)}.
   * Any other message is returned as it is.
   *
   * @throws InvalidMessageException if the value cannot be written
   */
  default NewMessage encode(NewMessage message) {
    Object value = message.content();
    if (value == null) {
      return message;
    }
    String json;
    try {
      json = write(value);
    } catch (Exception e) {
      throw new InvalidMessageException(
          "payload",
          "payload: %s could not be written as JSON: %s"
              .formatted(value.getClass().getName(), reason(e)),
          e);
    }
    return message.withJson(json);
  }

  private static String reason(Exception e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}

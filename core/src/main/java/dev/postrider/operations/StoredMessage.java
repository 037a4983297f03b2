package dev.postrider.operations;

import java.util.Map;

/**
 * What a message carries. Immutable, except that the payload array is not copied: do not write to
 * it.
 *
 * @param json whether the payload is valid JSON, as enqueue has found
 */
public record StoredMessage(
    MessageStatus status,
    String contentType,
    boolean json,
    Map<String, String> headers,
    byte[] payload) {}

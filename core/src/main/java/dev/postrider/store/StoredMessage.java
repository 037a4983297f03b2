package dev.postrider.store;

import java.util.Map;

/** What a message carries. The payload array is not copied: do not write to it. */
public record StoredMessage(
    MessageStatus status, String contentType, Map<String, String> headers, byte[] payload) {}

package dev.postrider.envelope;

import java.util.Map;

/**
 * A message ready for the wire. Immutable, except that the body may be the message's own payload:
 * do not write to it.
 *
 * @param attributes CloudEvents attributes by their bare names, for the headers; each protocol adds
 *     its own prefix. Empty for every other envelope
 */
public record Sealed(String contentType, byte[] body, Map<String, String> attributes) {}

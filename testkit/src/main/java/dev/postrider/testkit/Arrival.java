package dev.postrider.testkit;

import java.util.Map;
import java.util.UUID;

/**
 * A message as it was found on the other side of a destination.
 *
 * @param headers those that were sent, and any that the destination adds
 */
public record Arrival(UUID id, byte[] payload, Map<String, String> headers) {}

package dev.postrider.message;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The answer to an enqueue. Immutable.
 *
 * @param sequence the message's place in its key's order, null without a key
 * @param duplicate whether the dedupe key was known: id and sequence are then the first message's
 */
public record Enqueued(UUID id, @Nullable Long sequence, boolean duplicate) {}

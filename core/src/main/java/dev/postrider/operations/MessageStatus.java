package dev.postrider.operations;

import dev.postrider.message.MessageState;
import dev.postrider.message.Route;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The state of a message: a row of the view {@code message_state}. Immutable.
 *
 * @param attempts tries of the current, or else the last, delivery
 * @param delivery 1 for the first delivery, more for each requeue or replay
 * @param nextAttemptAt when it is due, only while it waits
 */
public record MessageStatus(
    UUID id,
    Route route,
    @Nullable String tenant,
    @Nullable String aggregateType,
    @Nullable String aggregateId,
    @Nullable String eventType,
    @Nullable String key,
    @Nullable Long sequence,
    @Nullable String dedupeKey,
    MessageState state,
    int attempts,
    int delivery,
    @Nullable Instant nextAttemptAt,
    @Nullable String lockedBy,
    @Nullable Instant lockedUntil,
    @Nullable String lastCode,
    @Nullable String lastError,
    @Nullable Instant createdAt,
    @Nullable Instant updatedAt) {}

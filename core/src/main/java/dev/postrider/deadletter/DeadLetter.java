package dev.postrider.deadletter;

import dev.postrider.message.Route;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message that was given up. Immutable.
 *
 * @param delivery the delivery that failed, 1 unless it was requeued or replayed before
 * @param blocking whether its key waits for it
 * @param discardReason why it was discarded, null while it is unresolved
 */
public record DeadLetter(
    UUID id,
    int delivery,
    Route route,
    @Nullable String tenant,
    @Nullable String aggregateType,
    @Nullable String aggregateId,
    @Nullable String eventType,
    @Nullable String key,
    @Nullable Long sequence,
    int attempts,
    boolean blocking,
    Instant diedAt,
    @Nullable String code,
    @Nullable String error,
    @Nullable String discardReason) {}

package dev.postrider.operations;

import dev.postrider.message.MessageState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The state of a message in one subscription: a row of the view {@code delivery_state}. Immutable.
 *
 * @param subscription empty for the default subscription
 * @param attempts tries of the current, or else the last, delivery
 * @param delivery 1 for the first delivery, more for each requeue or replay
 * @param nextAttemptAt when it is due, only while it waits
 */
public record DeliveryStatus(
    String subscription,
    MessageState state,
    int attempts,
    int delivery,
    @Nullable Instant nextAttemptAt,
    @Nullable String lockedBy,
    @Nullable Instant lockedUntil,
    @Nullable String lastCode,
    @Nullable String lastError,
    @Nullable Instant updatedAt) {}

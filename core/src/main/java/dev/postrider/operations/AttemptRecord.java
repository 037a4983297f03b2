package dev.postrider.operations;

import dev.postrider.message.AttemptState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One line of a message's timeline. Immutable.
 *
 * @param no the try within its delivery; 0 for a conflict, which is not a try of its own
 * @param finishedAt null while it runs
 * @param subscription empty for the default subscription
 */
public record AttemptRecord(
    int delivery,
    int no,
    AttemptState state,
    @Nullable Instant claimedAt,
    @Nullable Instant finishedAt,
    @Nullable Integer latencyMs,
    @Nullable String worker,
    @Nullable String code,
    @Nullable String error,
    @Nullable String reference,
    String subscription) {}

package dev.postrider.message;

import org.jspecify.annotations.Nullable;

/**
 * What a destination made of a claimed message.
 *
 * @param outcome null if the message was not sent at all and goes back as it was
 * @param late whether the message had been given up already, for want of an answer in time
 */
public record Answered(Claimed claimed, @Nullable Outcome outcome, int latencyMs, boolean late) {}

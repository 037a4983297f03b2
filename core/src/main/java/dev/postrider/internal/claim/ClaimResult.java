package dev.postrider.internal.claim;

import dev.postrider.internal.protocol.Claimed;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a claim took.
 *
 * @param messages a key's in their order, all under one token
 * @param cursor for the next claim
 * @param search how long the server looked for topics, tenants and parked messages
 * @param suspects whether a message waits to be claimed alone
 * @param more whether it ended before it had seen all there is
 */
public record ClaimResult(
    List<Claimed> messages,
    @Nullable String cursor,
    Duration search,
    boolean suspects,
    boolean more) {}

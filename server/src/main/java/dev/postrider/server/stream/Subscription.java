package dev.postrider.server.stream;

import dev.postrider.access.Token;
import dev.postrider.internal.stream.StreamFilter;

/**
 * What a client asked for, and may have. Immutable.
 *
 * @param after the last position that it has seen
 * @param filter limited to what the token is limited to
 * @param withContent whether it may see headers and payloads
 * @param address whose it is
 */
record Subscription(
    long after,
    StreamFilter filter,
    Format format,
    boolean withContent,
    Token token,
    String address) {}

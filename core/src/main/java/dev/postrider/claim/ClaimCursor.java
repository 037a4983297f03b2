package dev.postrider.claim;

import java.util.UUID;

/** The last row that a claim took from a range of the queue. */
public record ClaimCursor(int route, short lane, UUID id) {}

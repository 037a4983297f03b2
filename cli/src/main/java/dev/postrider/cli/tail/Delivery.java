package dev.postrider.cli.tail;

/** An attempt with its message. Immutable. */
public record Delivery(Attempt attempt, Sent message) {}

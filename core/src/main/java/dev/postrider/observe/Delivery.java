package dev.postrider.observe;

/** An attempt with its message. Immutable. */
public record Delivery(Attempt attempt, Sent message) {}

package dev.postrider.cli.config;

import dev.postrider.cli.destination.DestinationType;
import dev.postrider.destination.DestinationOptions;

/** A destination by its name, with its limits and the way to open it. Immutable. */
public record DestinationConfig(
    String name, String type, DestinationOptions options, DestinationType.Opener opener) {}

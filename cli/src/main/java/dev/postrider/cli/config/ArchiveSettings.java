package dev.postrider.cli.config;

import java.nio.file.Path;
import java.time.Duration;

/** Where old messages go, and when they are old. Immutable. */
public record ArchiveSettings(Path directory, Duration retention) {}

package dev.postrider.internal.archive;

import java.time.Instant;
import java.util.UUID;

/**
 * A file as the database knows it. Immutable.
 *
 * @param sha256 of the file as it is, compressed
 * @param location the directory or URL that it was written to
 */
public record ArchiveFile(
    String name,
    String partition,
    UUID firstId,
    UUID lastId,
    long messages,
    long bytes,
    String sha256,
    String location,
    Instant writtenAt) {}

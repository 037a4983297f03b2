package dev.postrider.internal.archive;

/**
 * What a run would do with one partition. Immutable.
 *
 * @param whole whether the partition would be dropped
 * @param settled messages that would be archived
 * @param kept messages that would stay: pending, processing, or dead and unresolved
 */
public record ArchivePlan(String partition, boolean whole, long settled, long kept) {}

package dev.postrider.internal.archive;

import java.util.List;

/**
 * What a run did, or has done so far. Immutable.
 *
 * @param archived messages written to files
 * @param kept messages old enough, but pending, processing or dead and unresolved
 * @param removed messages removed from the log, those of dropped partitions included
 * @param trimmed attempts and dead letters removed because their message is gone
 * @param dropped partitions dropped as a whole
 * @param busy partitions that were emptied row by row since they could not be dropped this time;
 *     the next run drops them
 * @param stopped whether it was told to stop
 */
public record ArchiveReport(
    long archived,
    long kept,
    long removed,
    long trimmed,
    List<String> files,
    List<String> dropped,
    List<String> busy,
    boolean stopped) {
  public ArchiveReport {
    files = List.copyOf(files);
    dropped = List.copyOf(dropped);
    busy = List.copyOf(busy);
  }
}

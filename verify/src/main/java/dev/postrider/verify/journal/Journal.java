package dev.postrider.verify.journal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A file to which one process appends entries. What was appended is on disk when the call returns;
 * threads that append at the same time share one sync. Thread-safe.
 */
public final class Journal implements AutoCloseable {
  private static final String SUFFIX = ".journal";

  private final FileChannel channel;
  private final Object syncing = new Object();
  private long written;
  private long synced;

  private Journal(FileChannel channel) {
    this.channel = channel;
  }

  /** Opens the journal of this name, and goes on behind what it has. */
  public static Journal open(Path directory, String name) {
    try {
      Path file = directory.resolve(name + SUFFIX);
      Journal journal =
          new Journal(FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
      journal.endTornLine(file);
      return journal;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A line that a killed process could not finish must not be joined with the next one. */
  private void endTornLine(Path file) throws IOException {
    if (!isWhole(file)) {
      write("\ttorn\n");
    }
  }

  /** Whether the last line of a file has its end. */
  private static boolean isWhole(Path file) throws IOException {
    try (FileChannel reader = FileChannel.open(file, StandardOpenOption.READ)) {
      long size = reader.size();
      ByteBuffer last = ByteBuffer.allocate(1);
      return size == 0 || (reader.read(last, size - 1) == 1 && last.get(0) == '\n');
    }
  }

  /** Writes these entries and syncs the file. */
  public void append(List<? extends Entry> entries) {
    try {
      sync(write(text(entries)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public void append(Entry entry) {
    append(List.of(entry));
  }

  /** Writes without a sync: survives the death of this process, but not that of the machine. */
  public void note(List<? extends Entry> entries) {
    try {
      write(text(entries));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(List<? extends Entry> entries) {
    StringBuilder text = new StringBuilder();
    entries.forEach(entry -> text.append(entry.line()).append('\n'));
    return text.toString();
  }

  private synchronized long write(String text) throws IOException {
    ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
    return ++written;
  }

  private void sync(long number) throws IOException {
    synchronized (syncing) {
      if (synced >= number) {
        return;
      }
      long upTo;
      synchronized (this) {
        upTo = written;
      }
      channel.force(false);
      synced = upTo;
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads every journal of a directory. */
  public static void readAll(Path directory, Consumer<Entry> reader) {
    try (Stream<Path> files = Files.list(directory)) {
      files.filter(file -> file.toString().endsWith(SUFFIX)).sorted().forEach(f -> read(f, reader));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads one journal; nothing if there is none. */
  public static List<Entry> read(Path directory, String name) {
    List<Entry> entries = new ArrayList<>();
    Path file = directory.resolve(name + SUFFIX);
    if (Files.exists(file)) {
      read(file, entries::add);
    }
    return entries;
  }

  /** Leaves lines out that were not finished: what they announce was not begun. */
  private static void read(Path file, Consumer<Entry> reader) {
    try (Stream<String> lines = Files.lines(file)) {
      List<String> waiting = new ArrayList<>(1);
      lines.forEach(
          line -> {
            waiting.forEach(before -> reader.accept(Entry.parse(before)));
            waiting.clear();
            if (!line.endsWith("\ttorn")) {
              waiting.add(line);
            }
          });
      if (isWhole(file)) {
        waiting.forEach(before -> reader.accept(Entry.parse(before)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

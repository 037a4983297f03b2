package dev.postrider.archive;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.zip.GZIPOutputStream;

/**
 * Writes one file: under a temporary name first, then synced and renamed, so that a file with a
 * final name is always whole. The final name holds the checksum of the contents, so that no file is
 * ever overwritten with other contents: it may be the only place where a message is left. Not
 * thread-safe.
 */
final class SegmentWriter implements AutoCloseable {
  private static final String TEMPORARY = ".ndjson.gz.tmp";

  private final Path directory;
  private final Path temporary;
  private final FileChannel channel;
  private final MessageDigest digest = sha256();
  private final OutputStream out;
  private final List<UUID> ids = new ArrayList<>();
  private long characters;

  SegmentWriter(Path directory) throws IOException {
    this.directory = directory;
    temporary = Files.createTempFile(directory, "postrider-", TEMPORARY);
    channel = FileChannel.open(temporary, StandardOpenOption.WRITE);
    OutputStream file = new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16);
    out = new GZIPOutputStream(new DigestOutputStream(file, digest), 1 << 16);
  }

  /** Removes what a run that died has left behind. */
  static void clean(Path directory) throws IOException {
    try (DirectoryStream<Path> left =
        Files.newDirectoryStream(directory, "postrider-*" + TEMPORARY)) {
      for (Path file : left) {
        Files.deleteIfExists(file);
      }
    }
  }

  void add(UUID id, String line) throws IOException {
    out.write(line.getBytes(StandardCharsets.UTF_8));
    out.write('\n');
    ids.add(id);
    characters += line.length();
  }

  List<UUID> ids() {
    return ids;
  }

  /** Uncompressed, in characters. */
  long size() {
    return characters;
  }

  /** Ends the file and gives it its name. */
  Written finish(String partition) throws IOException {
    out.close();
    String checksum = HexFormat.of().formatHex(digest.digest());
    UUID first = ids.get(0);
    String name = partition + "-" + first + "-" + checksum.substring(0, 16) + ".ndjson.gz";
    Path file = directory.resolve(name);
    sync(temporary);
    long bytes = Files.size(temporary);
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    sync(directory);
    return new Written(name, first, ids.get(ids.size() - 1), ids.size(), bytes, checksum);
  }

  /** The rename itself lasts only when the directory is synced too. */
  private static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
    Files.deleteIfExists(temporary);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A finished file. */
  record Written(String name, UUID first, UUID last, long messages, long bytes, String sha256) {}
}

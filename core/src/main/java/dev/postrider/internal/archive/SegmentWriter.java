package dev.postrider.internal.archive;

import dev.postrider.archive.ArchiveStorage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.zip.GZIPOutputStream;

/**
 * Writes one file of compressed lines. Its name holds the checksum of the contents, so that no file
 * is ever overwritten with other contents: it may be the only place where a message is left. Not
 * thread-safe.
 */
final class SegmentWriter implements AutoCloseable {
  private final ArchiveStorage.Draft draft;
  private final Measured measured;
  private final OutputStream out;
  private final List<UUID> ids = new ArrayList<>();
  private long characters;

  SegmentWriter(ArchiveStorage storage) throws IOException {
    draft = storage.start();
    measured = new Measured(draft.content());
    out = new GZIPOutputStream(measured, 1 << 16);
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

  /** Ends the file and publishes it. */
  Written finish(String partition) throws IOException {
    out.close();
    String checksum = HexFormat.of().formatHex(measured.digest.digest());
    UUID first = ids.get(0);
    String name = partition + "-" + first + "-" + checksum.substring(0, 16) + ".ndjson.gz";
    draft.publish(name, measured.bytes, checksum);
    return new Written(name, first, ids.get(ids.size() - 1), ids.size(), measured.bytes, checksum);
  }

  @Override
  public void close() throws IOException {
    draft.close();
  }

  /** A finished file. */
  record Written(String name, UUID first, UUID last, long messages, long bytes, String sha256) {}

  /** Counts and digests the compressed bytes. */
  private static final class Measured extends OutputStream {
    private final OutputStream out;
    private final MessageDigest digest = Sha256.start();
    private long bytes;

    Measured(OutputStream out) {
      this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
      out.write(from, offset, length);
      digest.update(from, offset, length);
      bytes += length;
    }

    @Override
    public void close() throws IOException {
      out.close();
    }
  }
}

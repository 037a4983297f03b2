package dev.postrider.archive;

import dev.postrider.internal.archive.Sha256;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A directory, for the files of one database only. A file is written under a temporary name, synced
 * and renamed. Thread-safe.
 */
public final class DirectoryStorage implements ArchiveStorage {
  private static final String TEMPORARY = ".ndjson.gz.tmp";

  private final Path directory;

  public DirectoryStorage(Path directory) {
    this.directory = directory;
  }

  @Override
  public void prepare() throws IOException {
    Files.createDirectories(directory);
    try (DirectoryStream<Path> left =
        Files.newDirectoryStream(directory, "postrider-*" + TEMPORARY)) {
      for (Path file : left) {
        Files.deleteIfExists(file);
      }
    }
  }

  @Override
  public Draft start() throws IOException {
    return new TemporaryFile();
  }

  /** A directory that is missing is fine if a run can create it. */
  @Override
  public void check() throws IOException {
    Path existing = directory.toAbsolutePath();
    while (!Files.exists(existing)) {
      @Nullable Path parent = existing.getParent();
      if (parent == null) {
        throw refused(existing + " does not exist");
      }
      existing = parent;
    }
    if (!Files.isDirectory(existing)) {
      throw refused(existing + " is not a directory");
    }
    if (!Files.isWritable(existing)) {
      throw refused(existing + " is not writable for this user");
    }
  }

  private ArchiveStorageException refused(String why) {
    return new ArchiveStorageException(
        "cannot write archive files to %s: %s; choose another directory or change its permissions"
            .formatted(directory, why),
        null);
  }

  @Override
  public String location() {
    return directory.toString();
  }

  /** The rename itself lasts only when the directory is synced too. */
  private static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  private static String sha256(Path file) throws IOException {
    MessageDigest digest = Sha256.start();
    try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
      in.transferTo(OutputStream.nullOutputStream());
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private final class TemporaryFile implements Draft {
    private final Path temporary;
    private final OutputStream content;

    TemporaryFile() throws IOException {
      temporary = Files.createTempFile(directory, "postrider-", TEMPORARY);
      FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE);
      content = new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16);
    }

    @Override
    public OutputStream content() {
      return content;
    }

    @Override
    public void publish(String name, long bytes, String sha256) throws IOException {
      Path file = directory.resolve(name);
      if (Files.exists(file) && !sha256(file).equals(sha256)) {
        throw new ArchiveStorageException(
            "%s exists with other contents; nothing was overwritten. Move it away, then archive again"
                .formatted(file),
            null);
      }
      sync(temporary);
      Files.move(
          temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      sync(directory);
    }

    @Override
    public void close() throws IOException {
      try {
        content.close();
      } finally {
        Files.deleteIfExists(temporary);
      }
    }
  }
}

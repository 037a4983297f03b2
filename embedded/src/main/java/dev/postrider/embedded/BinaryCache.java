package dev.postrider.embedded;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tukaani.xz.XZInputStream;

/**
 * Unpacked archives in a folder that only this user can enter. Every file is compared with a list
 * of digests before each use. Thread-safe, also between processes: a file lock excludes others.
 */
record BinaryCache(Path folder) {
  private static final Logger log = LoggerFactory.getLogger(BinaryCache.class);
  private static final Object LOCK = new Object(); // a file lock is for processes, not for threads

  /** Returns the folder with what is in the archive. */
  Path unpacked(byte[] archive) throws IOException {
    try {
      OwnerOnly.folder(folder);
    } catch (FileSystemException e) {
      throw new IOException(
          "the folder for PostgreSQL's programs cannot be used: "
              + e
              + "; set XDG_CACHE_HOME to a folder of your own",
          e);
    }
    synchronized (LOCK) {
      try (FileChannel channel =
              FileChannel.open(
                  folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = channel.lock()) {
        return lock.isValid() ? unpackedAlone(archive) : folder;
      }
    }
  }

  private Path unpackedAlone(byte[] archive) throws IOException {
    String name = Digests.of(archive).substring(0, 24);
    Path home = folder.resolve(name);
    Path list = folder.resolve(name + ".sha256");
    if (Files.exists(list)) {
      if (Files.readString(list).equals(Digests.ofTree(home))) {
        return home;
      }
      log.warn("{} is not as it was unpacked; unpacking it again", home);
    }
    Files.deleteIfExists(list);
    if (Files.exists(home)) {
      PostgresCluster.deleteTree(home);
    }
    unpack(archive, Files.createDirectory(home));
    OwnerOnly.write(list, Digests.ofTree(home));
    return home;
  }

  private static void unpack(byte[] archive, Path target) throws IOException {
    try (TarArchiveInputStream tar =
        new TarArchiveInputStream(new XZInputStream(new ByteArrayInputStream(archive)))) {
      for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        Path file = target.resolve(entry.getName()).normalize();
        if (!file.startsWith(target)) {
          throw new IOException("the archive leaves its directory: " + entry.getName());
        }
        write(tar, entry, file);
      }
    }
  }

  private static void write(InputStream content, TarArchiveEntry entry, Path file)
      throws IOException {
    if (entry.isDirectory()) {
      Files.createDirectories(file);
      return;
    }
    Files.createDirectories(file.resolveSibling("."));
    if (entry.isSymbolicLink()) {
      Files.createSymbolicLink(file, Path.of(entry.getLinkName()));
      return;
    }
    Files.copy(content, file);
    if ((entry.getMode() & 0100) != 0 && !file.toFile().setExecutable(true, false)) {
      throw new IOException("cannot make " + file + " executable");
    }
  }
}

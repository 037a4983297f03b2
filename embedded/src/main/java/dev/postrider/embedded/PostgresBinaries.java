package dev.postrider.embedded;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import io.zonky.test.db.postgres.util.ArchUtils;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/** Finds the PostgreSQL archive for this platform and unpacks it once per machine. */
final class PostgresBinaries {

  private PostgresBinaries() {}

  /** Returns the directory that holds {@code bin}; a null location means the class path. */
  static Path unpacked(@Nullable Path location) throws IOException {
    byte[] archive = location == null ? fromClassPath() : fromFile(location);
    Path cache = Path.of(System.getProperty("java.io.tmpdir"), "postrider-postgres");
    Path home = cache.resolve(digest(archive));
    if (!Files.exists(home)) {
      Files.createDirectories(cache);
      Path fresh = Files.createTempDirectory(cache, "unpack");
      unpack(archive, fresh);
      publish(fresh, home);
    }
    return home;
  }

  /** A rename is atomic, so processes that unpack at the same time never see half a server. */
  private static void publish(Path fresh, Path home) throws IOException {
    try {
      Files.move(fresh, home, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      PostgresCluster.deleteTree(fresh);
      if (!Files.exists(home)) {
        throw e;
      }
    }
  }

  private static byte[] fromClassPath() throws IOException {
    try (InputStream archive =
        DefaultPostgresBinaryResolver.INSTANCE.getPgBinary(system(), architecture())) {
      return archive.readAllBytes();
    }
  }

  private static byte[] fromFile(Path location) throws IOException {
    if (location.toString().endsWith(".txz")) {
      return Files.readAllBytes(location);
    }
    String wanted =
        "postgres-%s-%s.txz"
            .formatted(system().toLowerCase(Locale.ROOT), ArchUtils.normalize(architecture()));
    for (Path jar : jars(location)) {
      try (ZipFile zip = new ZipFile(jar.toFile())) {
        ZipEntry entry = zip.getEntry(wanted);
        if (entry != null) {
          return zip.getInputStream(entry).readAllBytes();
        }
      }
    }
    throw new IOException("no PostgreSQL for this platform (" + wanted + ") in " + location);
  }

  private static List<Path> jars(Path location) throws IOException {
    if (!Files.isDirectory(location)) {
      return List.of(location);
    }
    try (Stream<Path> files = Files.list(location)) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
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

  private static String system() {
    String name = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    if (name.startsWith("windows")) {
      return "Windows";
    }
    return name.startsWith("mac") ? "Darwin" : "Linux";
  }

  private static String architecture() {
    return System.getProperty("os.arch");
  }

  private static String digest(byte[] archive) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(archive);
      return HexFormat.of().formatHex(hash, 0, 12);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}

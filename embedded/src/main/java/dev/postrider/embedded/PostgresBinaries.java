package dev.postrider.embedded;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import io.zonky.test.db.postgres.util.ArchUtils;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/** Finds the PostgreSQL archive for this platform and unpacks it once per user. */
final class PostgresBinaries {

  private PostgresBinaries() {}

  /** Returns the directory that holds {@code bin}; a null location means the class path. */
  static Path unpacked(@Nullable Path location) throws IOException {
    byte[] archive = location == null ? fromClassPath() : fromFile(location);
    return new BinaryCache(CacheFolder.ofThisUser()).unpacked(archive);
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
}

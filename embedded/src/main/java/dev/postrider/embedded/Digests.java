package dev.postrider.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** SHA-256 of files and folders. */
final class Digests {
  private Digests() {}

  static String of(byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** One line per file and link, in order; empty if the folder is not there. */
  static String ofTree(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return "";
    }
    StringBuilder lines = new StringBuilder();
    for (Path path : sorted(folder)) {
      if (Files.isSymbolicLink(path)) {
        lines.append("-> ").append(Files.readSymbolicLink(path));
      } else if (Files.isRegularFile(path)) {
        lines.append(of(Files.readAllBytes(path)));
      } else {
        continue;
      }
      lines.append("  ").append(folder.relativize(path)).append('\n');
    }
    return lines.toString();
  }

  private static List<Path> sorted(Path folder) throws IOException {
    try (Stream<Path> paths = Files.walk(folder)) {
      return paths.sorted().toList();
    }
  }
}

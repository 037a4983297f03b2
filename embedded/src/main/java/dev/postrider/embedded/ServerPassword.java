package dev.postrider.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The superuser's password: random, made with the data, kept beside them in a file that only its
 * owner can read, in the form that libpq's {@code passfile} has.
 */
record ServerPassword(Path file) {
  private static final String ENTRY = "127.0.0.1:*:*:postgres:";
  private static final int BYTES = 32;

  static ServerPassword of(Path data) {
    return new ServerPassword(data.resolve("pgpass"));
  }

  static String random() {
    byte[] bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  void keep(String password) throws IOException {
    OwnerOnly.write(file, ENTRY + password + "\n");
  }

  String read() throws IOException {
    String line = Files.exists(file) ? Files.readString(file).strip() : "";
    if (!line.startsWith(ENTRY)) {
      throw new IllegalStateException(
          "the password of this PostgreSQL is not known: "
              + (line.isEmpty() ? file + " is missing" : file + " has no entry " + ENTRY)
              + ". Restore the file, or remove the data folder to start without data.");
    }
    return line.substring(ENTRY.length());
  }
}

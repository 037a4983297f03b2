package dev.postrider.cli.settings;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Reads a secret from a file. Its messages never show the content. */
final class SecretFile {
  private static final int BYTES_MAX = 64 << 10;

  private SecretFile() {}

  /**
   * The file's text without the line break at its end.
   *
   * @throws IllegalArgumentException if it cannot be read, is empty, too large or not UTF-8
   */
  static String read(String file) {
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      byte[] bytes = in.readNBytes(BYTES_MAX + 1);
      if (bytes.length > BYTES_MAX) {
        throw wrong(file, "is larger than 64 KiB");
      }
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      String secret = text.replaceFirst("\\r?\\n\\z", "");
      if (secret.isBlank()) {
        throw wrong(file, "is empty");
      }
      return secret;
    } catch (NoSuchFileException e) {
      throw wrong(file, "does not exist");
    } catch (CharacterCodingException e) {
      throw wrong(file, "is not UTF-8");
    } catch (IOException e) {
      throw wrong(file, "cannot be read: " + e);
    }
  }

  private static IllegalArgumentException wrong(String file, String what) {
    return new IllegalArgumentException("the file " + file + " " + what);
  }
}

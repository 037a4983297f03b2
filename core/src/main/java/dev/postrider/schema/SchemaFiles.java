package dev.postrider.schema;

import dev.postrider.message.PostriderException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/** The SQL files of the schema in the jar. Thread-safe. */
final class SchemaFiles {
  /** Versioned. Each is applied once, in this order, and never changes after a release. */
  static final List<String> TABLES = List.of("V001__tables.sql");

  /**
   * Replaced as a whole if one of them changes. A function that is parsed at its creation comes
   * after those it calls.
   */
  static final List<String> FUNCTIONS =
      List.of(
          "id.sql",
          "json.sql",
          "doorbell.sql",
          "ordering_key.sql",
          "fan_out.sql",
          "enqueue.sql",
          "enqueue_fast.sql",
          "enqueue_batch.sql",
          "worker.sql",
          "queue.sql",
          "suspect.sql",
          "claim.sql",
          "lease.sql",
          "settle.sql",
          "view.sql",
          "partition.sql",
          "act.sql",
          "subscription.sql",
          "dead_letter.sql",
          "replay.sql",
          "archive.sql",
          "backlog.sql",
          "pause.sql",
          "search.sql",
          "sequence.sql",
          "token.sql",
          "stream.sql",
          "fleet.sql",
          "retention.sql",
          "why.sql",
          "chart.sql");

  private SchemaFiles() {}

  static String table(String file) {
    return read("tables/" + file);
  }

  static String function(String file) {
    return read("functions/" + file);
  }

  static String read(String path) {
    try (InputStream in = SchemaFiles.class.getResourceAsStream("/dev/postrider/schema/" + path)) {
      if (in == null) {
        throw new PostriderException("the SQL file " + path + " is missing from the jar");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new PostriderException("the SQL file " + path + " cannot be read", e);
    }
  }

  static String checksum(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The text as a string constant of SQL whose tag occurs nowhere in it. */
  static String quoted(String file, String text) {
    String tag = "$" + file.substring(0, file.indexOf('.')) + "_sql$";
    return tag + "\n" + text + tag;
  }
}

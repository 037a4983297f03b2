package dev.postrider.cli.config;

import dev.postrider.archive.s3.S3Config;
import dev.postrider.cli.settings.Section;
import dev.postrider.message.PostriderException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Reads {@code postrider.archive.s3}. What is wrong is noted at its key. */
final class S3Settings {
  /** A bucket that nothing is wrong with, to try one other setting on. */
  private static final String ANY = "any";

  private final Section section;

  private S3Settings(Section section) {
    this.section = section;
  }

  /**
   * @param chosen whether this storage is to be used
   */
  static S3Config read(Section archive, boolean chosen) {
    try (Section section = archive.section("s3")) {
      S3Settings settings = new S3Settings(section);
      @Nullable String bucket = section.text("bucket");
      if (bucket == null && chosen) {
        section.problem("bucket", "missing; it is mandatory with storage: s3");
      } else if (bucket != null && !archive.given("storage")) {
        archive.problem("storage", "missing; expected s3, since s3.bucket is given, or directory");
      }
      return settings.config(bucket == null ? ANY : bucket);
    }
  }

  private S3Config config(String bucket) {
    boolean good = good("bucket", S3Config.bucket(bucket));
    S3Config.Builder config = S3Config.bucket(good ? bucket : ANY);
    text("prefix", (to, value) -> to.prefix(value), config);
    text("region", (to, value) -> to.region(value), config);
    boolean plain = section.flag("allow-plain", false);
    text("endpoint", (to, url) -> plain ? to.allowPlain().endpoint(url) : to.endpoint(url), config);
    boolean endpoint = section.given("endpoint");
    config.pathStyle(section.flag("path-style", endpoint));
    credentials(config);
    text("storage-class", (to, value) -> to.storageClass(value), config);
    limits(config);
    @Nullable String temporary = section.text("temporary-directory");
    return (temporary == null ? config : config.temporaryDirectory(Path.of(temporary))).build();
  }

  private void credentials(S3Config.Builder config) {
    @Nullable String access = section.text("access-key");
    @Nullable String secret = section.secret("secret-key");
    if (access != null && secret != null && !access.isBlank() && !secret.isBlank()) {
      config.credentials(access, secret);
    } else if (access != null || secret != null) {
      section.problem(
          access == null || access.isBlank() ? "access-key" : "secret-key",
          "missing; access-key and secret-key go together");
    }
  }

  private void limits(S3Config.Builder config) {
    config
        .connectTimeout(time("connect-timeout", Duration.ofSeconds(5), Duration.ofMinutes(1)))
        .readTimeout(time("read-timeout", Duration.ofSeconds(30), Duration.ofMinutes(10)))
        .uploadTimeout(time("upload-timeout", Duration.ofMinutes(15), Duration.ofDays(1)))
        .attempts(section.number("attempts", 4, 1, 20));
  }

  private Duration time(String key, Duration usual, Duration max) {
    return section.duration(key, usual, Duration.ofMillis(100), max);
  }

  @FunctionalInterface
  private interface Setter {
    S3Config.Builder set(S3Config.Builder to, String value);
  }

  /** Takes the text if it is given and good. */
  private void text(String key, Setter setter, S3Config.Builder config) {
    @Nullable String value = section.text(key);
    if (value != null && good(key, setter.set(S3Config.bucket(ANY), value))) {
      setter.set(config, value);
    }
  }

  private boolean good(String key, S3Config.Builder config) {
    try {
      config.build();
      return true;
    } catch (PostriderException e) {
      String text = String.valueOf(e.getMessage());
      section.problem(key, text.replaceFirst("^\\w+ must (be|have) ", "expected "));
      return false;
    }
  }
}

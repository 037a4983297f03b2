package dev.postrider.archive.s3;

import dev.postrider.error.RefusedException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds everything that is wrong with a configuration. */
final class S3Checks {
  /** An object's name has at most 1,024 bytes, and a file's own name needs its part of them. */
  private static final int PREFIX_BYTES_MAX = 700;

  private static final Pattern BUCKET = Pattern.compile("[^\\s\\p{Cntrl}/?#]{1,255}");
  private static final Pattern STORAGE_CLASS = Pattern.compile("[A-Z][A-Z0-9_-]{0,63}");
  private static final Pattern REGION = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,62}");
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127\\.\\d+\\.\\d+\\.\\d+|\\[::1]");
  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofDays(1);

  private final List<String> problems = new ArrayList<>();

  private S3Checks() {}

  static void check(S3Config.Builder builder) {
    S3Checks checks = new S3Checks();
    checks.names(builder);
    checks.endpoint(builder);
    checks.access(builder);
    checks.limits(builder);
    if (!checks.problems.isEmpty()) {
      throw new RefusedException(String.join("; ", checks.problems));
    }
  }

  private void names(S3Config.Builder builder) {
    expect(
        BUCKET.matcher(builder.bucket).matches(),
        "bucket must be the name of a bucket, without spaces and slashes",
        builder.bucket);
    expect(
        plain(builder.prefix),
        "prefix must have names between its slashes, none of them empty, . or .., such as"
            + " outbox/shop",
        builder.prefix);
    int bytes = builder.prefix.getBytes(StandardCharsets.UTF_8).length;
    expect(
        bytes <= PREFIX_BYTES_MAX,
        "prefix must have at most " + PREFIX_BYTES_MAX + " bytes",
        bytes);
    expect(
        builder.region == null || REGION.matcher(builder.region).matches(),
        "region must be a name such as eu-central-1",
        builder.region);
    expect(
        builder.storageClass == null || STORAGE_CLASS.matcher(builder.storageClass).matches(),
        "storageClass must be a name such as STANDARD_IA",
        builder.storageClass);
  }

  private static boolean plain(String prefix) {
    List<String> parts = Arrays.asList(prefix.replaceFirst("/$", "").split("/", -1));
    return prefix.isEmpty()
        || (parts.stream().noneMatch(part -> List.of("", ".", "..").contains(part))
            && prefix.codePoints().noneMatch(Character::isISOControl));
  }

  private void endpoint(S3Config.Builder builder) {
    if (builder.endpoint == null) {
      return;
    }
    @Nullable URI uri = uri(builder.endpoint);
    if (uri == null) {
      problems.add(
          "endpoint must be a URL such as https://minio.internal:9000, without user, query and"
              + " fragment");
    } else {
      expect(
          !"http".equalsIgnoreCase(uri.getScheme())
              || builder.allowPlain
              || LOOPBACK.matcher(uri.getHost()).matches(),
          "endpoint must be https unless plain http is allowed (allow-plain)",
          uri);
    }
  }

  private static @Nullable URI uri(String text) {
    try {
      URI uri = new URI(text);
      boolean http =
          "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
      boolean bare =
          uri.getRawUserInfo() == null && uri.getRawQuery() == null && uri.getFragment() == null;
      return http && bare && uri.getHost() != null ? uri : null;
    } catch (URISyntaxException e) {
      return null;
    }
  }

  private void access(S3Config.Builder builder) {
    boolean named = builder.accessKey != null && !builder.accessKey.isBlank();
    boolean secret = builder.secretKey != null && !builder.secretKey.isBlank();
    boolean neither = builder.accessKey == null && builder.secretKey == null;
    if (!neither && !(named && secret)) {
      problems.add("accessKey and secretKey go together; one is missing");
    }
  }

  private void limits(S3Config.Builder builder) {
    time("connectTimeout", builder.connectTimeout);
    time("readTimeout", builder.readTimeout);
    time("uploadTimeout", builder.uploadTimeout);
    expect(
        builder.attempts >= 1 && builder.attempts <= 20,
        "attempts must be from 1 to 20",
        builder.attempts);
  }

  private void time(String name, Duration value) {
    expect(
        value.compareTo(SHORTEST) >= 0 && value.compareTo(LONGEST) <= 0,
        name + " must be from 1 ms to 1 day",
        value);
  }

  private void expect(boolean good, String problem, @Nullable Object got) {
    if (!good) {
      problems.add(problem + ", got \"" + got + "\"");
    }
  }
}

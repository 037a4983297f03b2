package dev.postrider.server.access;

import dev.postrider.access.Token;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tokens that were good lately, by the hash of their secret. They let nobody in, with one
 * exception: while the database cannot be asked, metrics must be readable. Else they tell which
 * secrets are worth a lookup. Thread-safe.
 */
final class RecentTokens {
  private static final int MOST = 1000;
  private static final long KEPT_NANOS = Duration.ofHours(1).toNanos();

  private final LongSupplier nanoClock;
  private final Map<String, Good> tokens =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Good> eldest) {
          return size() > MOST;
        }
      };

  private record Good(Token token, long atNanos) {}

  RecentTokens(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  synchronized void remember(String secret, Token token) {
    tokens.put(hash(secret), new Good(token, nanoClock.getAsLong()));
  }

  synchronized void forget(String secret) {
    tokens.remove(hash(secret));
  }

  /** The token, if the database called it good within the last hour. */
  synchronized Optional<Token> recall(String secret) {
    @Nullable Good good = tokens.get(hash(secret));
    return good == null || nanoClock.getAsLong() - good.atNanos > KEPT_NANOS || expired(good.token)
        ? Optional.empty()
        : Optional.of(good.token);
  }

  private static boolean expired(Token token) {
    @Nullable Instant end = token.expiresAt();
    return end != null && !Instant.now().isBefore(end);
  }

  private static String hash(String secret) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(secret.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }
}

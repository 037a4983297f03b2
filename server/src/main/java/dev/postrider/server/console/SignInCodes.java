package dev.postrider.server.console;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Codes that sign in once, for links on the screen of whoever started the server. Thread-safe. */
public final class SignInCodes {
  private static final Duration GOOD_FOR = Duration.ofHours(1);
  private static final int BYTES = 24;
  private static final int MOST = 100;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final LongSupplier nanoClock;
  private final Map<String, Issued> codes = new LinkedHashMap<>();

  private record Issued(String secret, long atNanos) {}

  public SignInCodes(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** A code for this token. The oldest one is forgotten if there are too many. */
  public synchronized String issue(String secret) {
    byte[] random = new byte[BYTES];
    RANDOM.nextBytes(random);
    String code = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    codes.put(code, new Issued(secret, nanoClock.getAsLong()));
    if (codes.size() > MOST) {
      codes.remove(codes.keySet().iterator().next());
    }
    return code;
  }

  /** The token of a code, once. */
  synchronized Optional<String> redeem(String code) {
    @Nullable Issued issued = codes.remove(code);
    return issued == null || nanoClock.getAsLong() - issued.atNanos > GOOD_FOR.toNanos()
        ? Optional.empty()
        : Optional.of(issued.secret);
  }
}

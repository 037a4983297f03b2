package dev.postrider.server.access;

import dev.postrider.internal.text.LogLine;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs callers whose token is no good: enough to be noticed, not so much as to fill a disk. */
final class SignInLog {
  private static final Logger log = LoggerFactory.getLogger(SignInLog.class);
  private static final double LINES_PER_SECOND = 0.1;
  private static final int LINES_AT_ONCE = 5;
  private static final Pattern NUMBERED = Pattern.compile("postrider_([0-9]{1,18})_.*");

  private final RateLimiter byAddress;
  private final AtomicLong unsaid = new AtomicLong();

  SignInLog(LongSupplier nanoClock) {
    this.byAddress = new RateLimiter(LINES_PER_SECOND, LINES_AT_ONCE, nanoClock);
  }

  /** Of the secret only its token's number is shown, if it says one. */
  void failed(String address, String secret) {
    if (!byAddress.take(address).isZero()) {
      unsaid.incrementAndGet();
      return;
    }
    Matcher numbered = NUMBERED.matcher(secret);
    @Nullable String number = numbered.matches() ? numbered.group(1) : null;
    long others = unsaid.getAndSet(0);
    log.warn(
        "{}",
        LogLine.of("sign_in_failed")
            .put("address", address)
            .put("token", number)
            .put("others", others == 0 ? null : others));
  }
}

package dev.postrider.server.access;

import dev.postrider.access.Tokens;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells guesses from tokens that may be good, without asking the database for each: it reads the
 * marks of all good tokens, once a second at most. Thread-safe.
 */
final class TokenMarks {
  private static final long EVERY_NANOS = Duration.ofSeconds(1).toNanos();

  private final Tokens tokens;
  private final LongSupplier nanoClock;
  private final AtomicLong readNanos;
  private volatile Set<String> marks = ConcurrentHashMap.newKeySet();

  TokenMarks(Tokens tokens, LongSupplier nanoClock) {
    this.tokens = tokens;
    this.nanoClock = nanoClock;
    this.readNanos = new AtomicLong(nanoClock.getAsLong() - EVERY_NANOS);
  }

  /** False for a guess, and for a token that was made within the last second. */
  boolean mayBeGood(String secret) throws SQLException {
    @Nullable String mark = Tokens.mark(secret);
    return mark != null && (marks.contains(mark) || (readAgain() && marks.contains(mark)));
  }

  /** It was looked up and is not good any more. */
  void forget(String secret) {
    @Nullable String mark = Tokens.mark(secret);
    if (mark != null) {
      marks.remove(mark);
    }
  }

  private boolean readAgain() throws SQLException {
    long now = nanoClock.getAsLong();
    long before = readNanos.get();
    if (now - before < EVERY_NANOS || !readNanos.compareAndSet(before, now)) {
      return false;
    }
    Set<String> fresh = ConcurrentHashMap.newKeySet();
    fresh.addAll(tokens.marks());
    marks = fresh;
    return true;
  }
}

package dev.postrider.server.access;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * A bucket of calls for each caller, refilled at a steady rate. Remembers the callers of late and
 * no more than a bounded number of them; who was forgotten starts with a full bucket. Thread-safe.
 */
final class RateLimiter {
  private static final int CALLERS_MAX = 10_000;

  private final double perNano;
  private final double burst;
  private final LongSupplier nanoClock;
  private final Map<String, Bucket> buckets = new LinkedHashMap<>(16, 0.75f, true);

  private static final class Bucket {
    private double calls;
    private long atNanos;
  }

  RateLimiter(double perSecond, int burst, LongSupplier nanoClock) {
    this.perNano = perSecond / 1e9;
    this.burst = burst;
    this.nanoClock = nanoClock;
  }

  /** Takes a call from the caller's bucket; zero if it was there, else how long until the next. */
  synchronized Duration take(String caller) {
    Bucket bucket = filled(caller);
    if (bucket.calls >= 1) {
      bucket.calls--;
      return Duration.ZERO;
    }
    return untilOne(bucket);
  }

  /** Puts a call back that was taken. */
  synchronized void giveBack(String caller) {
    Bucket bucket = filled(caller);
    bucket.calls = Math.min(burst, bucket.calls + 1);
  }

  private Duration untilOne(Bucket bucket) {
    return Duration.ofNanos((long) Math.ceil((1 - bucket.calls) / perNano));
  }

  private Bucket filled(String caller) {
    long now = nanoClock.getAsLong();
    Bucket known = buckets.get(caller);
    if (known == null) {
      Bucket bucket = new Bucket();
      bucket.calls = burst;
      bucket.atNanos = now;
      buckets.put(caller, bucket);
      forgetOldest();
      return bucket;
    }
    known.calls = Math.min(burst, known.calls + (now - known.atNanos) * perNano);
    known.atNanos = now;
    return known;
  }

  private void forgetOldest() {
    if (buckets.size() > CALLERS_MAX) {
      Iterator<String> oldest = buckets.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
  }
}

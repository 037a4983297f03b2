package dev.postrider.bench.peer;

import java.util.Base64;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What a handler got, and when first. Thread-safe. */
final class Arrivals implements Consumer<String> {
  private final AtomicLongArray firstNanos;
  private final AtomicLong total = new AtomicLong();
  private final AtomicLong distinct = new AtomicLong();

  Arrivals(int expected) {
    this.firstNanos = new AtomicLongArray(expected);
  }

  @Override
  public void accept(String payload) {
    long now = System.nanoTime();
    int number = Math.toIntExact(Payload.order(payload));
    if (number < 0 || number >= firstNanos.length()) {
      throw new IllegalArgumentException("a message that nobody sent: " + payload);
    }
    if (firstNanos.compareAndSet(number, 0, now)) {
      distinct.incrementAndGet();
    }
    total.incrementAndGet();
  }

  long total() {
    return total.get();
  }

  boolean complete() {
    return distinct.get() == firstNanos.length();
  }

  /** Which came, as a bit set in Base64: processes that share a backlog are added up elsewhere. */
  String seen() {
    BitSet seen = new BitSet(firstNanos.length());
    for (int i = 0; i < firstNanos.length(); i++) {
      seen.set(i, firstNanos.get(i) != 0);
    }
    return Base64.getEncoder().withoutPadding().encodeToString(seen.toByteArray());
  }

  /** When each first came, 0 for never, with commas. */
  String times() {
    return IntStream.range(0, firstNanos.length())
        .mapToObj(i -> Long.toString(firstNanos.get(i)))
        .collect(Collectors.joining(","));
  }
}

package dev.postrider.server.stream;

import dev.postrider.access.Token;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Places for clients: so many for all, for each token and for each address. Thread-safe. */
public final class Places {
  private final StreamConfig.Places limits;
  private final Map<Long, Integer> byToken = new HashMap<>();
  private final Map<String, Integer> byAddress = new HashMap<>();
  private int taken;

  public Places(StreamConfig.Places limits) {
    this.limits = limits;
  }

  synchronized int taken() {
    return taken;
  }

  /** Whose places are all taken. */
  public enum Full {
    ALL,
    TOKEN,
    ADDRESS
  }

  /** Takes a place; if there is none, says why. */
  public synchronized @Nullable Full take(Token token, String address) {
    if (byToken.getOrDefault(token.id(), 0) >= limits.perToken()) {
      return Full.TOKEN;
    } else if (byAddress.getOrDefault(address, 0) >= limits.perAddress()) {
      return Full.ADDRESS;
    } else if (taken >= limits.most()) {
      return Full.ALL;
    }
    taken++;
    byToken.merge(token.id(), 1, Integer::sum);
    byAddress.merge(address, 1, Integer::sum);
    return null;
  }

  /** A place that was taken; once. */
  public synchronized void giveBack(Token token, String address) {
    taken--;
    byToken.computeIfPresent(token.id(), Places::oneLess);
    byAddress.computeIfPresent(address, Places::oneLess);
    notifyAll();
  }

  private static <K> @Nullable Integer oneLess(K key, int count) {
    return count == 1 ? null : count - 1;
  }

  /** Gives clients a moment to leave. */
  synchronized void awaitEmpty(Duration patience) {
    long end = System.nanoTime() + patience.toNanos();
    long left = patience.toMillis();
    try {
      while (taken > 0 && left > 0) {
        wait(left);
        left = (end - System.nanoTime()) / 1_000_000;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

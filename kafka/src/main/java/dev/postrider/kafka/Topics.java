package dev.postrider.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which topics a producer knows. Sending to another one blocks until the client has its metadata,
 * for a topic that does not exist as long as the client may. So unknown topics are asked for on
 * other threads, and only messages for the same topic wait. Thread-safe.
 */
final class Topics {
  /** Asks the client for a topic, which may block; returns what is wrong with it, or null. */
  interface Question extends Function<String, @Nullable SendFailure> {}

  private final Question question;
  private final Executor executor;
  private final long keptNanos;
  private final LongSupplier nanoClock;
  private final Map<String, Long> usedAtNanos = new HashMap<>();
  private final Map<String, List<Consumer<@Nullable SendFailure>>> asked = new HashMap<>();

  /**
   * Knows no topic.
   *
   * @param kept how long the client keeps the metadata of a topic that is not used
   */
  Topics(Question question, Executor executor, Duration kept, LongSupplier nanoClock) {
    this.question = question;
    this.executor = executor;
    this.keptNanos = kept.toNanos();
    this.nanoClock = nanoClock;
  }

  /** Whether sending to it does not block. */
  synchronized boolean knows(String topic) {
    Long used = usedAtNanos.get(topic);
    if (used == null) {
      return false;
    }
    long now = nanoClock.getAsLong();
    if (now - used > keptNanos) {
      usedAtNanos.remove(topic);
      return false;
    }
    usedAtNanos.put(topic, now);
    return true;
  }

  synchronized void forget(String topic) {
    usedAtNanos.remove(topic);
  }

  /**
   * Tells, from another thread, what is wrong with the topic; null if nothing is.
   *
   * @return false if too many topics are being asked for
   */
  boolean whenKnown(String topic, Consumer<@Nullable SendFailure> told) {
    synchronized (this) {
      List<Consumer<@Nullable SendFailure>> others = asked.get(topic);
      if (others != null) {
        others.add(told);
        return true;
      }
      asked.put(topic, new ArrayList<>(List.of(told)));
    }
    try {
      executor.execute(() -> ask(topic));
      return true;
    } catch (RejectedExecutionException e) {
      synchronized (this) {
        asked.remove(topic); // only this thread hands messages over, so nobody else has come
      }
      return false;
    }
  }

  private void ask(String topic) {
    SendFailure sendFailure = question.apply(topic);
    List<Consumer<@Nullable SendFailure>> waiting;
    synchronized (this) {
      waiting = asked.remove(topic);
      if (sendFailure == null) {
        usedAtNanos.put(topic, nanoClock.getAsLong());
      }
    }
    if (waiting != null) {
      waiting.forEach(told -> told.accept(sendFailure));
    }
  }
}

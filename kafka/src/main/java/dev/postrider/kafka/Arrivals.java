package dev.postrider.kafka;

/**
 * When the cluster last acknowledged a record of any producer of the destination. It tells a
 * cluster that is away from a partition that does not answer. Thread-safe.
 */
final class Arrivals {
  private volatile boolean any;
  private volatile long lastNanos;

  void at(long nanos) {
    lastNanos = nanos;
    any = true;
  }

  boolean within(long nanos, long nowNanos) {
    return any && nowNanos - lastNanos < nanos;
  }
}

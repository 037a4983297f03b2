package dev.postrider.verify.journal;

/** Microseconds since the machine started: on Linux one clock for all its processes. */
public final class Clock {
  private Clock() {}

  public static long micros() {
    return System.nanoTime() / 1000;
  }
}

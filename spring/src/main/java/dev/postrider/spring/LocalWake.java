package dev.postrider.spring;

import dev.postrider.relay.Relay;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Wakes the relay of this process after a commit, if it has one. Thread-safe. */
final class LocalWake implements Runnable {
  private final AtomicReference<@Nullable Relay> relay = new AtomicReference<>();

  void set(@Nullable Relay running) {
    relay.set(running);
  }

  /** The name of the relay; empty if there is none. */
  String name() {
    Relay running = relay.get();
    return running == null ? "" : running.status().name();
  }

  @Override
  public void run() {
    Relay running = relay.get();
    if (running != null) {
      running.wake();
    }
  }
}

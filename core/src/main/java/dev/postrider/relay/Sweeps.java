package dev.postrider.relay;

import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets each dispatcher look after its timeouts. Whatever one of them throws, an error too, the
 * others have their turn, and the thread that renews all leases goes on. Not thread-safe.
 */
final class Sweeps {
  private static final Logger log = LoggerFactory.getLogger(Sweeps.class);

  private final List<Dispatcher> dispatchers;

  /** Told in the log once, until they work again. */
  private final Set<String> failing = new HashSet<>();

  Sweeps(List<Dispatcher> dispatchers) {
    this.dispatchers = dispatchers;
  }

  /** Returns whether the breaker of a destination has just become ready for a probe. */
  boolean run() {
    boolean ready = false;
    for (Dispatcher dispatcher : dispatchers) {
      ready |= sweep(dispatcher);
    }
    return ready;
  }

  private boolean sweep(Dispatcher dispatcher) {
    String name = dispatcher.name();
    try {
      boolean ready = dispatcher.sweep();
      failing.remove(name);
      return ready;
    } catch (Throwable e) {
      if (failing.add(name)) {
        log.warn("{}", LogLine.of("outbox_sweep_failed").put("destination", name), Silenced.of(e));
      }
      return false;
    }
  }
}

package dev.postrider.handler;

import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.testkit.Arrival;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The other side of a handler. Thread-safe. */
final class Inbox {
  final List<Arrival> arrivals = Collections.synchronizedList(new ArrayList<>());
  volatile boolean away;

  Outcome take(Message message) throws Exception {
    if (away) {
      throw new IllegalStateException("away");
    }
    arrivals.add(new Arrival(message.id(), message.payload(), message.headers()));
    return Outcome.delivered();
  }

  List<Arrival> arrived() {
    synchronized (arrivals) {
      return List.copyOf(arrivals);
    }
  }
}

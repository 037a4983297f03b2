package dev.postrider.relay;

import dev.postrider.internal.wake.Wakeup;
import java.time.Duration;
import java.util.regex.Pattern;

/** Handles notifications: finds out whom each is for and wakes the lead carrier. Thread-safe. */
final class Rings {
  /** What a producer rings with: the number of its topic. */
  private static final Pattern ROUTE = Pattern.compile("[0-9]{1,9}");

  /** When a relay looks that does not own the topic of a ring. */
  private static final Duration OTHERS_RING = Duration.ofMillis(250);

  private final Routing routing;
  private final RingOwners owners;
  private final Wakeup lead;

  Rings(Routing routing, RingOwners owners, Wakeup lead) {
    this.routing = routing;
    this.owners = owners;
    this.lead = lead;
  }

  /**
   * A producer sends the number of its topic, an operator the name of an action; an empty text asks
   * to look everywhere. Any login of the database can notify with any text.
   */
  void heard(String payload) {
    if (payload.isEmpty()) {
      routing.rungForAll();
      lead.signal(Wakeup.Reason.NOTIFY);
    } else if (ROUTE.matcher(payload).matches()) {
      rung(Integer.parseInt(payload));
    } else {
      if (payload.equals("subscriptions")) {
        routing.topicsChanged();
      }
      lead.signal(Wakeup.Reason.CONTROL);
    }
  }

  private void rung(int routeId) {
    if (!routing.rung(routeId)) {
      return;
    }
    RouteDirectory.Entry entry = routing.directory().find(routeId);
    if (entry == null || owners.owns(entry.route(), entry.fansOut())) {
      lead.signal(Wakeup.Reason.NOTIFY);
    } else {
      lead.signalAfter(Wakeup.Reason.NOTIFY, OTHERS_RING);
    }
  }
}

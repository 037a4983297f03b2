package dev.postrider.server.health;

import java.util.Collection;
import java.util.Comparator;

/** How something is, the best first. */
enum Health {
  UP,
  /** It works, though not as well as it should. */
  DEGRADED,
  DOWN;

  static Health worst(Collection<HealthPart> parts) {
    return parts.stream().map(HealthPart::status).max(Comparator.naturalOrder()).orElse(UP);
  }
}

package dev.postrider.server.health;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How a part is; the details are for callers who may see them. */
record HealthPart(Health status, @Nullable Map<String, Object> details) {
  HealthPart withoutDetails() {
    return new HealthPart(status, null);
  }
}

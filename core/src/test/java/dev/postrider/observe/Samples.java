package dev.postrider.observe;

import dev.postrider.internal.protocol.ClaimSettlement;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import dev.postrider.message.Settlement.Decision;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;

/** Settlements for listeners to hear. */
final class Samples {
  static final String SECRET = "4111-1111";

  private Samples() {}

  static ClaimSettlement settled(Decision decision, String code, String error) {
    return settled(decision, code, error, "paid");
  }

  static ClaimSettlement settled(Decision decision, String code, String error, String eventType) {
    return settled(new Route("shop", "orders"), decision, code, error, eventType);
  }

  static ClaimSettlement settled(
      Route route, Decision decision, String code, String error, String eventType) {
    Message message =
        new Message(
            UUID.randomUUID(),
            route,
            null,
            0,
            null,
            null,
            null,
            null,
            eventType,
            Message.JSON,
            false,
            Map.of("authorization", SECRET),
            SECRET.getBytes(StandardCharsets.UTF_8),
            Instant.now(),
            3,
            1,
            1);
    Duration delay = decision == Decision.RETRY ? Duration.ofSeconds(5) : Duration.ZERO;
    return new ClaimSettlement(
        new Claimed(message, 1, 0, 0, "(0,1)"), decision, 7, delay, code, error, null);
  }
}

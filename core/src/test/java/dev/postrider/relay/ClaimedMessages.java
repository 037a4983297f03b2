package dev.postrider.relay;

import dev.postrider.internal.protocol.Claimed;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Claimed messages that no database has seen. */
final class ClaimedMessages {
  private ClaimedMessages() {}

  /**
   * @param token the lease
   */
  static Claimed claimed(long token, @Nullable String key) {
    Message message =
        new Message(
            UUID.randomUUID(),
            new Route("shop", "orders"),
            key,
            1,
            null,
            null,
            null,
            null,
            null,
            Message.JSON,
            true,
            Map.of(),
            new byte[2],
            Instant.now(),
            1,
            1,
            token);
    return new Claimed(message, 1, key == null ? 0 : 7, 0, "(0,1)");
  }
}

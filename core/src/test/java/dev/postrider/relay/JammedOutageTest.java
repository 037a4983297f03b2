package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An outage ends by itself also where many keys are blocked: its probe is never behind them. */
@Tag("EN-10")
@Tag("EN-16")
@Timeout(60)
class JammedOutageTest {
  private static final int BLOCKED = 60;

  @AutoClose private final Post post = new Post();
  private final AtomicBoolean up = new AtomicBoolean(true);

  private Outcome deliver(Message message) {
    if (!up.get()) {
      return Outcome.unavailable("refused", "connection refused");
    }
    return String.valueOf(message.key()).startsWith("blocked-")
        ? Outcome.terminal("bad", "bad")
        : post.take(message);
  }

  private List<UUID> send(String prefix, int keys, int each) {
    List<NewMessage> messages = new ArrayList<>();
    for (int i = 0; i < keys * each; i++) {
      messages.add(
          NewMessage.to("shop", "orders").key(prefix + i % keys).json("{\"n\":" + i + "}").build());
    }
    return post.send(messages);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 1000})
  void healthyMessagesAreDeliveredWhenItIsOver(int maxInFlight) {
    send("blocked-", BLOCKED, 3);
    post.start(
        HandlerDestination.inline(this::deliver),
        DestinationOptions.DEFAULT
            .withMaxInFlight(maxInFlight)
            .withBreaker(new BreakerOptions(3, Duration.ofMillis(100), Duration.ofMillis(400))),
        RouteOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withOnDead(DeadPolicy.BLOCK)));
    await()
        .until(() -> post.database.count("select count(*) from postrider.dead_letter") == BLOCKED);
    up.set(false);
    List<UUID> healthy = send("healthy-", 20, 2);
    await().until(() -> post.heard.breakers.stream().filter("half_open"::equals).count() >= 3);
    up.set(true);
    await().until(() -> post.deliveredIds().containsAll(healthy));
    assertThat(post.heard.breakers).endsWith("closed");
    assertThat(post.delivered).hasSize(40).allMatch(message -> message.attempt() == 1);
    await()
        .untilAsserted(
            () ->
                assertThat(post.database.count("select count(*) from postrider.queue"))
                    .isEqualTo(3 * BLOCKED));
  }
}

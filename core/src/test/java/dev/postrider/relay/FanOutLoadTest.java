package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.testrules.NoSecondChance;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fan-out of much, in small steps, and to many. */
@Tag("EN-23")
@Timeout(240)
@NoSecondChance
class FanOutLoadTest {
  private static final Duration LIMIT = Duration.ofMinutes(3);

  @AutoClose private final Post post = new Post();
  private final Map<String, Set<UUID>> arrived = new ConcurrentHashMap<>();
  private final Map<String, Long> last = new ConcurrentHashMap<>();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

  private Set<UUID> at(String name) {
    return arrived.computeIfAbsent(name, n -> ConcurrentHashMap.newKeySet());
  }

  private Destination taking(String name) {
    return HandlerDestination.inline(
        message -> {
          check(name, message);
          return Outcome.delivered();
        });
  }

  private void check(String name, Message message) {
    if (!at(name).add(message.id())) {
      wrong.add(name + " got " + message.id() + " twice");
    }
    long sequence = message.sequence();
    if (message.key() != null) {
      Long before = last.put(name + "/" + message.key(), sequence);
      if (sequence != (before == null ? 1 : before + 1)) {
        wrong.add("%s got %d of %s after %s".formatted(name, sequence, message.key(), before));
      }
    }
  }

  private void enqueue(int count, int keys) {
    for (int from = 1; from <= count; from += 10_000) {
      post.database.execute(
          """
          select count(postrider.enqueue('shop', 'orders', '{}',
                   key => case when g %% (%d + 1) < %d then 'k' || g %% (%d + 1) end))
            from generate_series(%d, %d) g
          """
              .formatted(keys, keys, keys, from, Math.min(count, from + 9_999)));
    }
  }

  private Relay.Builder builder(int named, int batchSize, DestinationOptions options) {
    Relay.Builder builder =
        post.builder()
            .config(Post.config().withBatchSize(batchSize))
            .destination("d0", taking("d0"), options)
            .route("shop", "orders", "d0");
    for (int i = 1; i <= named; i++) {
      builder
          .destination("d" + i, taking("d" + i), options)
          .subscription("shop", "orders", "s" + i, "d" + i);
    }
    return builder;
  }

  private void add(int named) {
    for (int i = 1; i <= named; i++) {
      post.database.execute(
          "select postrider.subscription_add('ann', 'shop', 'orders', 's" + i + "')");
    }
  }

  private void untilAllHave(int count, int subscriptions) {
    await()
        .atMost(LIMIT)
        .until(
            () -> {
              assertThat(wrong).isEmpty();
              for (int i = 0; i < subscriptions; i++) {
                if (at("d" + i).size() < count) {
                  return false;
                }
              }
              return true;
            });
    await()
        .atMost(LIMIT)
        .until(() -> post.database.count("select count(*) from postrider.queue") == 0);
    assertThat(wrong).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 1_000})
  void aHundredThousandMessagesThatWait(int keys) {
    add(2);
    enqueue(100_000, keys);
    post.start(builder(2, 500, DestinationOptions.DEFAULT));
    post.start(builder(2, 500, DestinationOptions.DEFAULT));
    untilAllHave(100_000, 3);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void claimsOfAFewMessages(int limit) {
    add(3);
    enqueue(400, 5);
    post.start(builder(3, limit, DestinationOptions.DEFAULT.withMaxInFlight(limit)));
    enqueue(400, 5);
    untilAllHave(800, 4);
  }

  @Test
  void aHundredSubscriptions() {
    add(100);
    enqueue(300, 7);
    post.start(builder(100, 100, DestinationOptions.DEFAULT));
    enqueue(300, 7);
    untilAllHave(600, 101);
    assertThat(post.database.count("select count(*) from postrider.message")).isEqualTo(600);
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.testrules.NoSecondChance;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two subscriptions of a topic have one destination, which answers by the message's id. It never
 * has two copies of a message at a time, so that each answer is for one of them.
 */
@Tag("EN-23")
@Timeout(60)
@NoSecondChance
class SharedDestinationTest {
  private static final int MESSAGES = 500;

  @AutoClose private final Post post = new Post();

  @AutoClose("shutdownNow")
  private final ExecutorService answering = Executors.newSingleThreadExecutor();

  private final Set<UUID> inHand = ConcurrentHashMap.newKeySet();
  private final AtomicInteger copiesTogether = new AtomicInteger();

  /** Answers later and from another thread, as a broker does. */
  private final class Broker implements Destination {
    private final boolean keepsOrder;

    Broker(boolean keepsOrder) {
      this.keepsOrder = keepsOrder;
    }

    @Override
    public boolean keepsOrder() {
      return keepsOrder;
    }

    @Override
    public void deliver(List<Message> batch, Answers answers) {
      for (Message message : batch) {
        if (!inHand.add(message.id())) {
          copiesTogether.incrementAndGet();
        }
      }
      answering.execute(
          () -> {
            for (Message message : batch) {
              inHand.remove(message.id());
              Outcome outcome = post.take(message);
              answers.answer(message.id(), outcome);
            }
          });
    }
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, true"})
  void everyCopyGetsItsAnswer(boolean keepsOrder, boolean keys) {
    post.start(
        post.builder()
            .destination(
                "here",
                new Broker(keepsOrder),
                DestinationOptions.DEFAULT.withTimeout(Duration.ofHours(1)))
            .route("shop", "*", "here")
            .subscription("shop", "orders", "mail", "here"));
    post.database.execute(
        "select count(postrider.enqueue('shop', 'orders', '{}'%s)) from generate_series(1, %d) i"
            .formatted(keys ? ", key => 'k' || i %% 3".formatted() : "", MESSAGES));
    await().until(() -> post.database.count("select count(*) from postrider.queue") == 0);
    assertThat(copiesTogether).hasValue(0);
    assertThat(post.heard.violations).isEmpty();
    assertThat(post.delivered).hasSize(2 * MESSAGES).allMatch(message -> message.attempt() == 1);
    Set<String> copies = new HashSet<>();
    post.delivered.forEach(m -> copies.add(m.route().subscription() + " " + m.id()));
    assertThat(copies).hasSize(2 * MESSAGES);
  }
}

package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LimitsTest {
  @AutoClose private final Post post = new Post();
  private final AtomicLong most = new AtomicLong();

  /** While a message is handled, looks what the relay holds. */
  private Outcome look(Message message, String what) {
    long held =
        post.database.count(
            "select coalesce(" + what + ", 0) from postrider.queue where lease is not null");
    most.accumulateAndGet(held, Math::max);
    return post.take(message);
  }

  private void start(DestinationOptions limits, String what) {
    post.start(
        post.builder()
            .config(Post.config().withBatchSize(30).withCarriers(3))
            .destination("here", HandlerDestination.of(4, m -> look(m, what)), limits)
            .route("shop", "*", "here"));
  }

  @Test
  @Tag("EN-12")
  void holdsNoMoreMessagesThanAllowed() {
    post.send("orders", null, 500);
    post.send("orders", "k", 100);
    start(DestinationOptions.DEFAULT.withMaxInFlight(40), "count(*)");
    post.untilEmpty();
    assertThat(post.delivered).hasSize(600);
    assertThat(most.get()).isBetween(5L, 40L);
  }

  @Test
  @Tag("EN-12")
  void holdsNoMoreBytesThanAllowed() {
    List<NewMessage> messages = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      messages.add(
          NewMessage.to("shop", "big").payload(new byte[500 + 100 * (i % 20)], "x/y").build());
    }
    post.send(messages);
    start(DestinationOptions.DEFAULT.withMaxBytesInFlight(30_000), "sum(size)");
    post.untilEmpty();
    assertThat(post.delivered).hasSize(300);
    assertThat(most.get()).isBetween(5_000L, 30_000L);
  }

  @Test
  @Tag("EN-12")
  void sendsAMessageThatIsLargerThanAllBytesAllowed() {
    post.send(List.of(NewMessage.to("shop", "big").payload(new byte[100_000], "x/y").build()));
    start(DestinationOptions.DEFAULT.withMaxBytesInFlight(1_000), "sum(size)");
    await().until(() -> post.delivered.size() == 1);
  }

  @Test
  @Tag("PO-8")
  void handsOverNoMoreThanTheConcurrency() {
    post.send("orders", null, 200);
    List<Runnable> open = Collections.synchronizedList(new ArrayList<>());
    AtomicInteger outstanding = new AtomicInteger();
    Destination destination =
        (batch, answers) ->
            batch.forEach(
                message -> {
                  most.accumulateAndGet(outstanding.incrementAndGet(), Math::max);
                  open.add(
                      () -> {
                        outstanding.decrementAndGet();
                        answers.answer(message.id(), post.take(message));
                      });
                });
    post.start(destination, DestinationOptions.DEFAULT.withConcurrency(7), RouteOptions.DEFAULT);
    await()
        .until(
            () -> {
              while (open.size() == 7 || post.delivered.size() + open.size() == 200) {
                if (open.isEmpty()) {
                  return true;
                }
                open.remove(0).run();
              }
              return false;
            });
    post.untilEmpty();
    assertThat(most.get()).isEqualTo(7);
  }
}

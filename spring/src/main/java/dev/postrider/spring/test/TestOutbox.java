package dev.postrider.spring.test;

import dev.postrider.message.Enqueued;
import dev.postrider.message.JsonCodec;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Route;
import dev.postrider.spring.ManualRelay;
import dev.postrider.spring.ManualRelay.Delivery;
import dev.postrider.spring.PublishListener;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * What a test published, and a relay that delivers it when the test says so. Use it with {@code
 * assertThat(testOutbox)}. Messages count from the moment they are published, so that a test that
 * rolls back at its end can assert them. Messages that were rolled back, with their transaction or
 * to a savepoint, do not count. Thread-safe.
 */
public final class TestOutbox implements PublishListener, AssertProvider<TestOutboxAssert> {
  private final Supplier<ManualRelay> relay;
  private final @Nullable JsonCodec codec;
  private final List<Published> messages = new ArrayList<>();

  private static final class Published {
    final NewMessage message;
    final Enqueued answer;
    boolean committed;
    int attempts;
    boolean done;

    Published(NewMessage message, Enqueued answer) {
      this.message = message;
      this.answer = answer;
    }
  }

  /**
   * @param codec that of the application; null if there is none
   */
  public TestOutbox(Supplier<ManualRelay> relay, @Nullable JsonCodec codec) {
    this.relay = relay;
    this.codec = codec;
  }

  @Override
  public void published(NewMessage message, Enqueued answer) {
    if (answer.duplicate()) {
      return;
    }
    synchronized (this) {
      messages.add(new Published(message, answer));
    }
  }

  @Override
  public synchronized void committed(NewMessage message, Enqueued answer) {
    messages.stream()
        .filter(published -> wrote(answer, published))
        .forEach(published -> published.committed = true);
  }

  @Override
  public synchronized void rolledBack(NewMessage message, Enqueued answer) {
    messages.removeIf(published -> wrote(answer, published));
  }

  private static boolean wrote(Enqueued answer, Published published) {
    return !answer.duplicate() && answer.id().equals(published.answer.id());
  }

  /** The messages that were published in this test, in their order. */
  public synchronized List<NewMessage> messages() {
    return messages.stream().map(published -> published.message).toList();
  }

  /** Forgets the messages; done before each test. */
  public synchronized void clear() {
    messages.clear();
  }

  /**
   * Delivers the messages of this test that are due, each once, on this thread: to the handlers of
   * the application and to its brokers. A message that fails is due again at once, for the next
   * call.
   *
   * <p>If the transaction of the test is still open, its messages are handed to their handlers in
   * that transaction. Messages for a broker are not sent before the commit.
   *
   * @return what became of each message
   * @throws IllegalStateException if a message has no route
   */
  public List<Delivery> deliver() {
    Set<UUID> ids = new HashSet<>();
    Set<Route> routes = new HashSet<>();
    List<Published> open = new ArrayList<>();
    synchronized (this) {
      for (Published published : messages) {
        if (published.committed) {
          ids.add(published.answer.id());
          routes.add(published.message.route());
        } else if (!published.done) {
          open.add(published);
        }
      }
    }
    List<Delivery> deliveries = new ArrayList<>(relay.get().deliver(ids, routes));
    for (Published published : open) {
      if (relay.get().handledHere(published.message.route())) {
        published.attempts++;
        List<Delivery> handed = relay.get().handOver(message(published));
        published.done = handed.stream().allMatch(Delivery::delivered);
        deliveries.addAll(handed);
      }
    }
    return deliveries;
  }

  private Message message(Published published) {
    NewMessage message = encoded(published.message);
    Long sequence = published.answer.sequence();
    return new Message(
        published.answer.id(),
        message.route(),
        message.key(),
        sequence == null ? 0 : sequence,
        message.dedupeKey(),
        message.tenant(),
        message.aggregateType(),
        message.aggregateId(),
        message.eventType(),
        Objects.requireNonNullElse(message.contentType(), Message.JSON),
        message.isJson(),
        message.headers(),
        message.payload(),
        Instant.now(),
        published.attempts,
        1,
        0);
  }

  NewMessage encoded(NewMessage message) {
    return codec == null ? message : codec.encode(message);
  }

  @Nullable JsonCodec codec() {
    return codec;
  }

  @Override
  public TestOutboxAssert assertThat() {
    return new TestOutboxAssert(this);
  }
}

package dev.postrider.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import dev.postrider.observe.RelayListener;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A destination that takes a key's next message together with its answer for the one before. */
@Tag("PO-6")
class NextMessageTest {
  private final List<Message> sent = new CopyOnWriteArrayList<>();
  private final List<Destination.Answers> answers = new CopyOnWriteArrayList<>();
  private final List<Answered> heard = new CopyOnWriteArrayList<>();
  private final List<Long> checked = new CopyOnWriteArrayList<>();
  private final LeaseClock lease = new LeaseClock(1, System.nanoTime(), Duration.ofMinutes(1));
  private @Nullable Dispatcher started;

  @AfterEach
  void close() {
    if (started != null) {
      started.close();
    }
  }

  private Dispatcher start(boolean keepsOrder, DestinationOptions options) {
    Destination destination =
        new Destination() {
          @Override
          public void deliver(List<Message> batch, Answers given) {
            for (Message message : batch) {
              answers.add(given);
              sent.add(message);
            }
          }

          @Override
          public boolean keepsOrder() {
            return keepsOrder;
          }

          @Override
          public boolean mayFollow(Message before, Message next) {
            return false;
          }
        };
    Dispatcher dispatcher = new Dispatcher("test", destination, options, RelayListener.NONE);
    started = dispatcher;
    dispatcher.start();
    return dispatcher;
  }

  private Dispatcher start() {
    return start(false, DestinationOptions.DEFAULT);
  }

  /** Refuses the message with this sequence. */
  private void submit(Dispatcher dispatcher, String key, int count, long refused) {
    List<Claimed> run =
        LongStream.rangeClosed(1, count).mapToObj(sequence -> claimed(key, sequence)).toList();
    dispatcher.submit(
        run,
        lease,
        heard::add,
        claimed -> {
          long sequence = claimed.message().sequence();
          checked.add(sequence);
          return sequence == refused ? Outcome.terminal("refused", "refused") : null;
        });
  }

  private static Claimed claimed(String key, long sequence) {
    Route route = new Route("shop", "orders");
    Message message =
        new Message(
            UUID.randomUUID(),
            route,
            key,
            sequence,
            null,
            null,
            null,
            null,
            null,
            Message.JSON,
            false,
            Map.of(),
            new byte[10],
            Instant.EPOCH,
            1,
            1,
            1);
    return new Claimed(message, route.hashCode(), key.hashCode(), 0, "(0,1)");
  }

  private void untilSent(int count) {
    await().until(() -> sent.size() == count);
  }

  private @Nullable Message delivered(int number) {
    return answers.get(number).deliveredNext(sent.get(number).id());
  }

  /** The first answer shows that this destination asks; from then on checks run ahead. */
  private void warmUp(Dispatcher dispatcher) {
    submit(dispatcher, "first", 1, 0);
    untilSent(1);
    assertThat(delivered(0)).isNull();
    heard.clear();
    checked.clear();
  }

  @Test
  void theNextMessageOfTheKeyComesWithTheAnswer() {
    Dispatcher dispatcher = start();
    warmUp(dispatcher);
    submit(dispatcher, "k", 4, 0);
    untilSent(2);
    Message second = delivered(1);
    assertThat(second).isNotNull().extracting(Message::sequence).isEqualTo(2L);
    Message third = answers.get(1).deliveredNext(second.id());
    assertThat(third).isNotNull().extracting(Message::sequence).isEqualTo(3L);
    answers.get(1).answer(third.id(), Outcome.retryable("x", "x"));
    assertThat(sent).as("none of them through deliver()").hasSize(2);
    assertThat(heard)
        .extracting(a -> a.claimed().message().sequence())
        .containsExactly(1L, 2L, 3L, 4L);
    assertThat(heard.get(3).outcome()).as("behind a failed one: released unsent").isNull();
    assertThat(checked).as("each once").containsExactly(1L, 2L, 3L, 4L);
  }

  @Test
  @Tag("EN-20")
  void othersThatWaitComeFirst() {
    Dispatcher dispatcher = start(false, DestinationOptions.DEFAULT.withConcurrency(1));
    warmUp(dispatcher);
    submit(dispatcher, "k", 2, 0);
    untilSent(2);
    submit(dispatcher, "other", 1, 0);
    assertThat(delivered(1)).isNull();
    untilSent(3);
    assertThat(sent.get(2).key()).isEqualTo("other");
    assertThat(delivered(2)).isNull();
    untilSent(4);
    assertThat(sent.get(3).sequence()).isEqualTo(2);
  }

  @Test
  void aMessageThatItsCheckRefusesIsNotSent() {
    Dispatcher dispatcher = start();
    warmUp(dispatcher);
    submit(dispatcher, "k", 3, 2);
    untilSent(2);
    assertThat(delivered(1)).isNull();
    await().until(() -> heard.size() == 3);
    assertThat(heard.get(1).outcome()).isInstanceOf(Outcome.Terminal.class);
    assertThat(heard.get(2).outcome()).as("released unsent").isNull();
    assertThat(sent).hasSize(2);
  }

  @Test
  @Tag("PO-13")
  void nothingComesOnceTheLeaseIsLost() {
    Dispatcher dispatcher = start();
    warmUp(dispatcher);
    submit(dispatcher, "k", 2, 0);
    untilSent(2);
    lease.lost();
    assertThat(delivered(1)).isNull();
    await().until(() -> heard.size() == 2);
    assertThat(heard.get(1).outcome()).as("released unsent").isNull();
    assertThat(sent).hasSize(2);
  }

  @Test
  @Tag("EN-11")
  void nothingComesWhileDraining() {
    Dispatcher dispatcher = start();
    warmUp(dispatcher);
    submit(dispatcher, "k", 2, 0);
    untilSent(2);
    dispatcher.drain();
    assertThat(delivered(1)).isNull();
    assertThat(heard).hasSize(2);
  }

  @Test
  void aDestinationThatKeepsOrderGetsTheNextInItsBatches() {
    Dispatcher dispatcher = start(true, DestinationOptions.DEFAULT);
    warmUp(dispatcher);
    submit(dispatcher, "k", 2, 0);
    untilSent(2);
    assertThat(delivered(1)).isNull();
    untilSent(3);
    assertThat(sent.get(2).sequence()).isEqualTo(2);
  }

  @Test
  void aNextMessageThatIsNeverAnsweredTimesOut() {
    Dispatcher dispatcher =
        start(false, DestinationOptions.DEFAULT.withTimeout(Duration.ofMillis(50)));
    warmUp(dispatcher);
    submit(dispatcher, "k", 3, 0);
    untilSent(2);
    assertThat(delivered(1)).isNotNull();
    await()
        .until(
            () -> {
              dispatcher.sweep();
              return heard.size() == 3;
            });
    assertThat(heard.get(1).outcome()).isInstanceOf(Outcome.Retryable.class);
    assertThat(heard.get(2).outcome()).as("released unsent").isNull();
  }
}

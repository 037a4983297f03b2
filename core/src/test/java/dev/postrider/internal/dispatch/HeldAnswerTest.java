package dev.postrider.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.observe.RelayListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever an answer says and whoever throws over it: its message is not held for ever. */
@Tag("EN-7")
class HeldAnswerTest {
  private final List<Answered> heard = new CopyOnWriteArrayList<>();
  private final LeaseClock lease = new LeaseClock(1, System.nanoTime(), Duration.ofMinutes(1));
  private final List<Dispatcher> started = new ArrayList<>();

  @AfterEach
  void close() {
    started.forEach(Dispatcher::close);
  }

  private Dispatcher start(Destination destination, RelayListener listener) {
    DestinationOptions options =
        DestinationOptions.DEFAULT.withBreaker(
            new BreakerOptions(1, Duration.ofMinutes(1), Duration.ofMinutes(1)));
    Dispatcher dispatcher = new Dispatcher("test", destination, options, listener);
    dispatcher.start();
    started.add(dispatcher);
    return dispatcher;
  }

  private void submit(Dispatcher dispatcher, Dispatcher.Check check) {
    dispatcher.submit(DispatcherTest.run("k", 1), lease, heard::add, check);
    await().until(() -> heard.size() == 1);
  }

  private static Destination answering(Outcome outcome) {
    return (batch, answers) -> batch.forEach(message -> answers.answer(message.id(), outcome));
  }

  @ParameterizedTest
  @CsvSource({"-3600, 0", ", 0", "0, 0", "9223372036854775807, 86400", "60, 60"})
  void aDelayThatMakesNoSenseIsBounded(@Nullable Long seconds, long expected) {
    Duration delay = seconds == null ? null : Duration.ofSeconds(seconds);
    submit(
        start(answering(Outcome.notSent("rate", "later", delay)), RelayListener.NONE),
        claimed -> null);
    Duration least = expected == 0 ? Duration.ofMillis(50) : Duration.ofSeconds(expected);
    assertThat(heard.get(0).deferral()).isBetween(least, least.multipliedBy(2));
  }

  @Test
  void anAnswerThatCannotBeJudgedIsRecorded() {
    RelayListener throwing =
        new RelayListener() {
          @Override
          public void breaker(String destination, String state) {
            throw new AssertionError("broken listener");
          }
        };
    submit(start(answering(Outcome.unavailable("away", "away")), throwing), claimed -> null);
    assertThat(heard.get(0).outcome()).isInstanceOf(Outcome.Unavailable.class);
  }

  @Test
  void anErrorOfTheTargetIsNotOneOfTheMessage() {
    Destination destination =
        new Destination() {
          @Override
          public void deliver(List<Message> batch, Answers answers) {
            answering(Outcome.retryable("busy", "busy")).deliver(batch, answers);
          }

          @Override
          public String target(Message message) {
            throw new NoClassDefFoundError("gone");
          }
        };
    Dispatcher dispatcher = start(destination, RelayListener.NONE);
    submit(dispatcher, claimed -> null);
    assertThat(heard.get(0).outcome()).isInstanceOf(Outcome.Retryable.class);
    assertThat(dispatcher.openTargets()).as("by its topic").isEqualTo(1);
  }

  @Test
  @Tag("PO-8")
  void whatACheckHoldsUpComesAgainAfterAPause() {
    Dispatcher dispatcher = start(answering(Outcome.delivered()), RelayListener.NONE);
    submit(dispatcher, claimed -> Outcome.notSent("later", "later", Duration.ofSeconds(60)));
    assertThat(heard.get(0).deferral()).isBetween(Duration.ofSeconds(60), Duration.ofSeconds(120));
    heard.clear();
    submit(dispatcher, claimed -> Outcome.unavailable("away", "away"));
    assertThat(heard.get(0).deferral()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(2));
    assertThat(dispatcher.breakerState()).isEqualTo("closed");
  }
}

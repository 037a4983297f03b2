package dev.postrider.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import dev.postrider.observe.RelayListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DispatcherTest {
  private final List<List<Message>> batches = new CopyOnWriteArrayList<>();
  private final List<Destination.Answers> answers = new CopyOnWriteArrayList<>();
  private final List<Answered> heard = new CopyOnWriteArrayList<>();
  private final LeaseClock lease = new LeaseClock(1, System.nanoTime(), Duration.ofMinutes(1));
  private final List<Dispatcher> started = new ArrayList<>();

  @AfterEach
  void close() {
    started.forEach(Dispatcher::close);
  }

  private Dispatcher start(boolean keepsOrder, int concurrency) {
    return start(keepsOrder, DestinationOptions.DEFAULT.withConcurrency(concurrency));
  }

  private Dispatcher start(boolean keepsOrder, DestinationOptions options) {
    Destination destination =
        new Destination() {
          @Override
          public void deliver(List<Message> batch, Answers given) {
            answers.add(given);
            batches.add(batch);
          }

          @Override
          public boolean keepsOrder() {
            return keepsOrder;
          }

          @Override
          public boolean mayFollow(Message before, Message next) {
            return next.sequence() != 5;
          }
        };
    Dispatcher dispatcher = new Dispatcher("test", destination, options, RelayListener.NONE);
    dispatcher.start();
    started.add(dispatcher);
    return dispatcher;
  }

  static List<Claimed> run(@Nullable String key, int count) {
    return run(new Route("shop", "orders"), key, count);
  }

  private static List<Claimed> run(Route route, String key, int count) {
    return run(route, null, key, count);
  }

  private static List<Claimed> run(
      Route route, @Nullable String tenant, @Nullable String key, int count) {
    return LongStream.rangeClosed(1, count)
        .mapToObj(
            sequence ->
                new Claimed(
                    new Message(
                        UUID.randomUUID(),
                        route,
                        key,
                        sequence,
                        null,
                        tenant,
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
                        1),
                    route.hashCode(),
                    key == null ? 0 : key.hashCode(),
                    0,
                    "(0,1)"))
        .toList();
  }

  private void submit(Dispatcher dispatcher, List<Claimed> batch) {
    dispatcher.submit(batch, lease, heard::add, claimed -> null);
  }

  private void answer(int batch, int message, Outcome outcome) {
    answers.get(batch).answer(batches.get(batch).get(message).id(), outcome);
  }

  @Test
  @Tag("PO-6")
  void aKeysNextMessageGoesWhenTheOneBeforeIsDelivered() {
    Dispatcher dispatcher = start(false, 100);
    submit(dispatcher, run("k", 3));
    await().until(() -> batches.size() == 1);
    assertThat(batches.get(0)).extracting(Message::sequence).containsExactly(1L);
    answer(0, 0, Outcome.delivered());
    await().until(() -> batches.size() == 2);
    answer(1, 0, Outcome.retryable("x", "x"));
    assertThat(heard).hasSize(3);
    assertThat(heard.get(2).outcome()).as("released unsent").isNull();
  }

  @Test
  @Tag("PO-6")
  void theRestOfARunWaitsForTheWholeBatchBeforeIt() {
    Dispatcher dispatcher = start(true, 2);
    submit(dispatcher, run("k", 4));
    await().until(() -> batches.size() == 1);
    assertThat(batches.get(0)).extracting(Message::sequence).containsExactly(1L, 2L);
    submit(dispatcher, run("other", 1));
    answer(0, 1, Outcome.delivered());
    await().until(() -> batches.size() == 2);
    assertThat(batches.get(1)).extracting(Message::key).containsExactly("other");
    answer(0, 0, Outcome.retryable("x", "x"));
    assertThat(heard).hasSize(4).filteredOn(a -> a.outcome() == null).hasSize(2);
  }

  /** Each settlement is a transaction, and the key cannot go on before its run is over. */
  @Test
  @Tag("PO-6")
  void aRunIsToldTogetherOrByTheNextSweep() {
    Dispatcher dispatcher = start(false, 100);
    submit(dispatcher, run("k", 3));
    for (int i = 0; i < 3; i++) {
      int sent = i;
      await().until(() -> batches.size() == sent + 1);
      assertThat(heard).hasSize(i == 0 ? 0 : 1);
      answer(i, 0, Outcome.delivered());
      if (i == 0) {
        assertThat(heard).isEmpty();
        timeOut(dispatcher, 1);
      }
    }
    assertThat(heard).extracting(a -> a.claimed().message().sequence()).containsExactly(1L, 2L, 3L);
  }

  @Test
  @Tag("PO-6")
  void aMessageThatMayNotFollowWaitsForThoseBeforeIt() {
    Dispatcher dispatcher = start(true, 100);
    submit(dispatcher, run("k", 6));
    await().until(() -> batches.size() == 1);
    assertThat(batches.get(0)).extracting(Message::sequence).containsExactly(1L, 2L, 3L, 4L);
    for (int i = 0; i < 4; i++) {
      assertThat(batches).hasSize(1);
      answer(0, i, Outcome.delivered());
    }
    await().until(() -> batches.size() == 2);
    assertThat(batches.get(1)).extracting(Message::sequence).containsExactly(5L, 6L);
  }

  /** Each of these messages has ten bytes. */
  @Test
  @Tag("EN-20")
  void aRunTakesAQuarterOfTheBytesAtMost() {
    Dispatcher dispatcher = start(true, DestinationOptions.DEFAULT.withMaxBytesInFlight(120));
    submit(dispatcher, run("k", 4));
    await().until(() -> batches.size() == 1);
    assertThat(batches.get(0)).extracting(Message::sequence).containsExactly(1L, 2L, 3L);
    for (int message = 0; message < 3; message++) {
      answer(0, message, Outcome.delivered());
    }
    await().until(() -> batches.size() == 2);
    assertThat(batches.get(1)).extracting(Message::sequence).containsExactly(4L);
  }

  @Test
  @Tag("EN-20")
  void aRunLeavesRoomForOtherKeys() {
    Dispatcher dispatcher = start(true, 100);
    submit(dispatcher, run("busy", 4));
    await().until(() -> batches.size() == 1);
    List<Claimed> rest = run("busier", 104);
    submit(dispatcher, rest.subList(4, 104)); // from the fifth: the whole may follow each other
    await().until(() -> batches.size() == 2);
    assertThat(batches.get(1)).hasSize(25);
    submit(dispatcher, run("quiet", 1));
    await().until(() -> batches.size() == 3);
    assertThat(batches.get(2)).extracting(Message::key).containsExactly("quiet");
  }

  @Test
  @Tag("EN-20")
  void topicsAndTenantsTakeTurns() {
    Route orders = new Route("shop", "orders");
    Dispatcher dispatcher = start(false, 1);
    submit(dispatcher, run(orders, "busy", null, 1000));
    await().until(() -> batches.size() == 1);
    submit(dispatcher, run(orders, "quiet", null, 1));
    submit(dispatcher, run(new Route("shop", "invoices"), "busy", null, 1));
    for (int i = 0; i < 3; i++) {
      int sent = i + 1;
      answer(i, 0, Outcome.delivered());
      await().until(() -> batches.size() > sent);
    }
    assertThat(batches)
        .map(batch -> batch.get(0).route().topic() + " " + batch.get(0).tenant())
        .containsExactly("orders busy", "orders busy", "orders quiet", "invoices busy");
  }

  @Test
  @Tag("PO-13")
  void nothingIsSentOnceTheLeaseIsLost() {
    Dispatcher dispatcher = start(false, 1);
    submit(dispatcher, run("k", 2));
    await().until(() -> batches.size() == 1);
    submit(dispatcher, run("other", 2));
    lease.lost();
    answer(0, 0, Outcome.delivered());
    await().until(() -> heard.size() == 4);
    assertThat(batches).hasSize(1);
    assertThat(heard).filteredOn(answered -> answered.outcome() == null).hasSize(3);
  }

  @Test
  @Tag("EN-12")
  void claimsAtTheSameTimeShareTheRoom() {
    Dispatcher dispatcher =
        new Dispatcher(
            "test",
            (batch, given) -> {},
            DestinationOptions.DEFAULT.withMaxInFlight(10).withMaxBytesInFlight(1000),
            RelayListener.NONE);
    started.add(dispatcher);
    Dispatcher.Room first = dispatcher.reserve(500, 2, Amount.NONE);
    Dispatcher.Room second = dispatcher.reserve(500, 2, Amount.NONE);
    assertThat(first).isEqualTo(new Dispatcher.Room(5, 500, false, false));
    assertThat(second).isEqualTo(first);
    assertThat(dispatcher.reserve(500, 2, Amount.NONE)).isNull();
    Dispatcher.Room leaving = dispatcher.reserve(500, 2, new Amount(5, 500));
    assertThat(leaving).as("the room of what is settled with the claim").isEqualTo(first);
    dispatcher.unreserve(first);
    dispatcher.unreserve(first);
    assertThat(dispatcher.reserve(500, 2, Amount.NONE)).isEqualTo(first);
  }

  @Test
  @Tag("EN-10")
  void whatWasClaimedBeforeTheBreakerOpenedIsGivenBackUnsent() {
    Dispatcher dispatcher = start(false, 100);
    for (int i = 0; i < DestinationOptions.DEFAULT.breaker().failures(); i++) {
      submit(dispatcher, run("k" + i, 1));
      int batch = i;
      await().until(() -> batches.size() == batch + 1);
      answer(batch, 0, Outcome.unavailable("away", "away"));
    }
    assertThat(dispatcher.breakerState()).isEqualTo("open");
    heard.clear();
    submit(dispatcher, run("late", 3));
    assertThat(heard).hasSize(3).allMatch(answered -> answered.outcome() == null);
  }

  /** No target fails often enough by itself, but none answers: nothing is there. */
  @Test
  @Tag("EN-10")
  void silenceOfManyTargetsIsAnOutageAndOfOneIsNot() {
    Dispatcher one = silent();
    for (int i = 0; i < 30; i++) {
      submit(one, run("k" + i, 1));
    }
    timeOut(one, 30);
    assertThat(one.breakerState()).isEqualTo("closed");
    assertThat(one.openTargets()).isEqualTo(1);
    heard.clear();
    Dispatcher many = silent();
    for (int i = 0; i < 30; i++) {
      submit(many, run(new Route("shop", "topic-" + i), "k" + i, 1));
    }
    timeOut(many, 30);
    assertThat(many.breakerState()).isEqualTo("open");
    assertThat(many.openTargets()).isZero();
  }

  private Dispatcher silent() {
    Dispatcher dispatcher =
        new Dispatcher(
            "test",
            (batch, given) -> batches.add(batch),
            DestinationOptions.DEFAULT
                .withTimeout(Duration.ofMillis(1))
                .withBreaker(new BreakerOptions(20, Duration.ofMinutes(1), Duration.ofMinutes(1))),
            RelayListener.NONE);
    dispatcher.start();
    started.add(dispatcher);
    return dispatcher;
  }

  private void timeOut(Dispatcher dispatcher, int messages) {
    await()
        .until(
            () -> {
              dispatcher.sweep();
              return heard.size() == messages;
            });
  }

  @Test
  @Tag("EN-17")
  void aMessageThatWasNotSentIsDeferredAndNobodyIsBlamed() {
    Dispatcher dispatcher = start(false, 100);
    for (int i = 0; i < 30; i++) {
      submit(dispatcher, run("k" + i, 1));
      int batch = i;
      await().until(() -> batches.size() == batch + 1);
      answer(batch, 0, Outcome.notSent("busy", "later", Duration.ofMillis(100)));
    }
    assertThat(heard).hasSize(30).allMatch(answered -> answered.deferral() != null);
    assertThat(dispatcher.breakerState()).isEqualTo("closed");
    assertThat(dispatcher.openTargets()).isZero();
  }

  @Test
  @Tag("EN-11")
  void afterDrainingNothingMoreIsSent() {
    Dispatcher dispatcher = start(false, 1);
    submit(dispatcher, run("k", 3));
    await().until(() -> batches.size() == 1);
    dispatcher.drain();
    submit(dispatcher, run("late", 2));
    assertThat(heard).hasSize(4).allMatch(answered -> answered.outcome() == null);
    answer(0, 0, Outcome.delivered());
    assertThat(heard).hasSize(5);
    assertThat(batches).hasSize(1);
  }
}

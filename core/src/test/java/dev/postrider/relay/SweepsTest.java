package dev.postrider.relay;

import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.dispatch.LeaseClock;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.message.Outcome;
import dev.postrider.observe.RelayListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One dispatcher that throws keeps no other from its timeouts. */
@Tag("PO-8")
class SweepsTest {
  private static final DestinationOptions OPTIONS =
      DestinationOptions.DEFAULT.withBreaker(
          new BreakerOptions(1, Duration.ofMillis(1), Duration.ofMillis(1)));

  private final List<Answered> heard = new CopyOnWriteArrayList<>();
  private final List<Dispatcher> dispatchers = new ArrayList<>();

  @AfterEach
  void close() {
    dispatchers.forEach(Dispatcher::close);
  }

  /** With an open breaker, whose pause is over in a moment. */
  private Dispatcher start(RelayListener listener) {
    Destination away =
        (batch, answers) -> answers.answer(batch.get(0).id(), Outcome.unavailable("away", "away"));
    Dispatcher dispatcher = new Dispatcher("test", away, OPTIONS, listener);
    dispatchers.add(dispatcher);
    dispatcher.start();
    int before = heard.size();
    dispatcher.submit(
        List.of(ClaimedMessages.claimed(1, null)),
        new LeaseClock(1, System.nanoTime(), Duration.ofMinutes(1)),
        heard::add,
        claimed -> null);
    await().until(() -> heard.size() > before);
    return dispatcher;
  }

  @Test
  void afterAnErrorTheOthersHaveTheirTurn() {
    AtomicBoolean thrown = new AtomicBoolean();
    RelayListener throwing =
        new RelayListener() {
          @Override
          public void breaker(String destination, String state) {
            if (state.equals("half_open")) {
              thrown.set(true);
              throw new NoClassDefFoundError("gone");
            }
          }
        };
    Sweeps sweeps = new Sweeps(List.of(start(throwing), start(RelayListener.NONE)));
    AtomicBoolean ready = new AtomicBoolean();
    await()
        .until(
            () -> {
              ready.compareAndSet(false, sweeps.run());
              return ready.get() && thrown.get();
            });
  }
}

package dev.postrider.internal.dispatch;

import dev.postrider.destination.Destination;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.observe.RelayListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands messages to one destination from a thread of its own, and takes the answers on the
 * destination's threads. Thread-safe.
 */
final class Sender {
  private static final Logger log = LoggerFactory.getLogger(Sender.class);

  /** So many messages of a run are checked before the one in front of them is sent. */
  private static final int AHEAD = 256;

  private final String name;
  private final Destination destination;
  private final int concurrency;
  private final RelayListener listener;
  private final DispatchQueue queue;
  private final Breakers breakers;
  private final Capacity capacity;
  private final DispatchLock lock;
  private final Thread thread;
  private boolean delivering;
  private boolean closed;

  /** Whether the destination asks for the next message with its answers. */
  private volatile boolean asksForNext;

  /** What a dispatcher knows of its messages, guarded by its lock. */
  record State(DispatchQueue queue, Breakers breakers, Capacity capacity, Sinks sinks) {}

  Sender(
      String name, Destination destination, int concurrency, RelayListener listener, State state) {
    this.name = name;
    this.destination = destination;
    this.concurrency = concurrency;
    this.listener = listener;
    this.queue = state.queue();
    this.breakers = state.breakers();
    this.capacity = state.capacity();
    this.lock = new DispatchLock(state.sinks(), this::hasWork);
    this.thread = new Thread(this::pump, "postrider-dispatch-" + name);
    thread.setDaemon(true);
  }

  DispatchLock lock() {
    return lock;
  }

  void start() {
    thread.start();
  }

  /** Ends the thread. What waits is not sent. */
  void close() {
    lock.run(() -> closed = true);
    thread.interrupt();
  }

  private boolean hasWork() {
    return closed || (queue.isWaiting() && queue.sentCount() < concurrency);
  }

  private void pump() {
    while (true) {
      try {
        Optional<List<DispatchItem>> taken = lock.awaitWork(this::take);
        if (taken.isEmpty()) {
          return;
        }
        send(taken.get());
      } catch (InterruptedException e) {
        log.debug("{}: an interrupt after a timeout came too late, or it is closed", name);
      }
    }
  }

  /** Takes the messages that may be handed over; empty when closed. Holds the lock. */
  private Optional<List<DispatchItem>> take() {
    return closed
        ? Optional.empty()
        : Optional.of(queue.handOver(concurrency, destination, System.nanoTime()));
  }

  private void send(List<DispatchItem> taken) {
    delivering(true);
    try {
      for (DispatchItem item : taken) {
        Outcome refused = item.checked ? null : item.check.refuse(item.claimed);
        if (refused != null) {
          refuse(item, refused);
        }
      }
      if (asksForNext) {
        checkAhead(taken);
      }
      List<DispatchItem> ready = lock.get(() -> queue.ready(taken, System.nanoTime()));
      if (!ready.isEmpty()) {
        deliver(ready);
      }
    } catch (Throwable e) {
      log.warn(
          "{}", LogLine.of("outbox_destination_threw").put("destination", name), Silenced.of(e));
      String error = ErrorReport.of(e);
      taken.forEach(item -> threw(item, error));
    } finally {
      delivering(false);
    }
  }

  /** Under the lock, so that an interrupt meant for a stuck delivery never hits the next one. */
  private void delivering(boolean value) {
    lock.run(
        () -> {
          delivering = value;
          boolean unused = Thread.interrupted();
        });
  }

  /**
   * Checks the next messages of the keys, because the destination's threads must not wait for a
   * check. A message that is refused is checked again when its turn comes.
   */
  private void checkAhead(List<DispatchItem> heads) {
    List<DispatchItem> passed = new ArrayList<>();
    for (DispatchItem item : lock.get(() -> Run.unchecked(heads, AHEAD))) {
      try {
        if (item.check.refuse(item.claimed) == null) {
          passed.add(item);
        }
      } catch (Throwable e) {
        log.debug(
            "the check of {} threw; it is checked again in its turn", item.id(), Silenced.of(e));
      }
    }
    lock.run(() -> passed.forEach(item -> item.checked = true));
  }

  private void deliver(List<DispatchItem> ready) {
    Batch batch = new Batch();
    List<Message> messages = new ArrayList<>(ready.size());
    ready.forEach(item -> messages.add(batch.add(item)));
    destination.deliver(List.copyOf(messages), batch);
  }

  /** The answers for one batch, and for the messages that were handed over with those answers. */
  private final class Batch implements Destination.Answers {
    private final Map<UUID, DispatchItem> byId = new ConcurrentHashMap<>();

    Message add(DispatchItem item) {
      Message message = item.claimed.message();
      byId.put(item.id(), item);
      listener.sent(name, message);
      return message;
    }

    @Override
    public void answer(UUID id, @Nullable Outcome outcome) {
      Optional<DispatchItem> unused = take(id, outcome, false);
    }

    @Override
    public @Nullable Message deliveredNext(UUID id) {
      asksForNext = true;
      return take(id, Outcome.delivered(), !destination.keepsOrder()).map(this::add).orElse(null);
    }

    /** Returns the next message of the key if it was handed over with this answer. */
    private Optional<DispatchItem> take(UUID id, @Nullable Outcome outcome, boolean handOverNext) {
      DispatchItem item = byId.get(id);
      if (item == null) {
        violation("answered for message " + id + ", which was not in the batch");
        return Optional.empty();
      }
      if (outcome == null) {
        violation("answered null for message " + id);
      }
      Outcome given =
          outcome == null
              ? Outcome.retryable("null_answer", "the destination answered null")
              : outcome;
      Taken taken = lock.get(() -> answered(item, given, handOverNext));
      if (!taken.first()) {
        violation("answered twice for message " + id);
      }
      return Optional.ofNullable(taken.next());
    }
  }

  /**
   * What became of an answer.
   *
   * @param first whether it is the first one for its message
   * @param next the message that was handed over because of it
   */
  private record Taken(boolean first, @Nullable DispatchItem next) {}

  /** Holds the lock. */
  private Taken answered(DispatchItem item, Outcome given, boolean handOverNext) {
    long now = System.nanoTime();
    switch (item.stage) {
      case SENT -> {
        queue.takeBack(item);
        judge(item, given, Breakers.Failure.ANSWER, now);
        DispatchItem next = handOverNext && !closed ? queue.handOverNext(item, now) : null;
        if (next == null) {
          queue.queueNext(item);
        }
        return new Taken(true, next);
      }
      case TIMED_OUT -> {
        capacity.took(item.claimed);
        queue.finishLate(item, given, now);
      }
      case ABANDONED -> log.debug("{} answered for {} after the deadline", name, item.id());
      case ANSWERED, WAITING -> {
        return new Taken(false, null);
      }
    }
    return new Taken(true, null);
  }

  /** Never sent, so it says nothing about the destination. What may pass later is deferred. */
  private void refuse(DispatchItem item, Outcome refused) {
    lock.run(
        () -> {
          if (queue.takeBack(item)) {
            queue.finish(item, refused, Breakers.unsent(refused), System.nanoTime());
            queue.queueNext(item);
          }
        });
  }

  private void threw(DispatchItem item, String error) {
    Outcome outcome = Outcome.retryable("destination_threw", error);
    lock.run(
        () -> {
          if (queue.takeBack(item)) {
            judge(item, outcome, Breakers.Failure.THROWN, System.nanoTime());
          }
        });
  }

  /** Fails what was handed over too long ago, and frees a stuck thread. Holds the lock. */
  void timeOut(Duration timeout, long now) {
    List<DispatchItem> late = queue.timeOut(now - timeout.toNanos());
    if (!late.isEmpty() && delivering) {
      thread.interrupt();
    }
    Outcome outcome =
        Outcome.retryable("timeout", "no answer within " + timeout.toMillis() + " ms");
    late.forEach(item -> judge(item, outcome, Breakers.Failure.TIMEOUT, now));
  }

  /** What an answer says about the destination, its target and the message. Holds the lock. */
  private void judge(DispatchItem item, Outcome outcome, Breakers.Failure failure, long now) {
    queue.finish(item, outcome, deferral(item, outcome, failure, now), now);
    if (breakers.state(now) == CircuitBreaker.State.OPEN) {
      queue.releaseWaiting();
    }
  }

  /**
   * Whatever fails here: the message was answered, and without that its key would wait for ever.
   */
  private @Nullable Duration deferral(
      DispatchItem item, Outcome outcome, Breakers.Failure failure, long now) {
    try {
      return breakers.judge(item, outcome, failure, now);
    } catch (Throwable e) {
      log.warn("{}", LogLine.of("outbox_judging_failed").put("destination", name), Silenced.of(e));
      return null;
    }
  }

  private void violation(String what) {
    log.warn(
        "{}",
        LogLine.of("outbox_destination_violation").put("destination", name).put("what", what));
    listener.violation(name, what);
  }
}

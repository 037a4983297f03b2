package dev.postrider.dispatch;

import dev.postrider.message.Answered;
import dev.postrider.message.Claimed;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.observe.RelayListener;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Feeds one destination from a thread of its own: so many messages at a time, a key's one after the
 * other, none whose lease may be over. Whatever the destination does, each message submitted is
 * answered to its sink exactly once, and once more if its answer comes after its timeout.
 * Thread-safe.
 */
public final class Dispatcher implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);

  private final String name;
  private final Destination destination;
  private final DestinationOptions options;
  private final RelayListener listener;
  private final int concurrency;
  private final Thread thread;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Parcel> waiting = new ArrayDeque<>();
  private final Set<Parcel> sent = new LinkedHashSet<>();
  private final CircuitBreaker breaker;
  private int inFlight;
  private long bytesInFlight;
  private boolean delivering;
  private boolean closed;

  public Dispatcher(
      String name, Destination destination, DestinationOptions options, RelayListener listener) {
    this.name = name;
    this.destination = destination;
    this.options = options;
    this.listener = listener;
    this.concurrency = Math.min(options.concurrency(), destination.concurrency());
    this.breaker =
        new CircuitBreaker(options.breaker(), state -> listener.breaker(name, state.label()));
    this.thread = new Thread(this::pump, "postrider-dispatch-" + name);
    thread.setDaemon(true);
  }

  public void start() {
    thread.start();
  }

  public String name() {
    return name;
  }

  public int maxInFlight() {
    return options.maxInFlight();
  }

  /** How much may be claimed for this destination now. */
  public Room room() {
    lock.lock();
    try {
      int messages = options.maxInFlight() - inFlight;
      long bytes = options.maxBytesInFlight() - bytesInFlight;
      boolean full = messages <= 0 || bytes <= 0;
      return switch (breaker.state(System.nanoTime())) {
        case OPEN -> Room.NONE;
        case HALF_OPEN -> inFlight > 0 ? Room.NONE : new Room(1, bytes, true);
        case CLOSED -> full ? Room.NONE : new Room(messages, bytes, false);
      };
    } finally {
      lock.unlock();
    }
  }

  /**
   * What may be claimed.
   *
   * @param probe whether a single message may be claimed, to see if the destination is back
   */
  public record Room(int messages, long bytes, boolean probe) {
    static final Room NONE = new Room(0, 0, false);
  }

  /** Takes claimed messages, a key's in their order; the sink hears of each. */
  public void submit(List<Claimed> batch, LeaseClock lease, Consumer<Answered> sink, Check check) {
    Map<Long, Deque<Parcel>> runs = new HashMap<>();
    lock.lock();
    try {
      for (Claimed claimed : batch) {
        inFlight++;
        bytesInFlight += claimed.message().payload().length;
        if (!claimed.ordered()) {
          waiting.add(new Parcel(claimed, lease, sink, check, null));
          continue;
        }
        Deque<Parcel> run = runs.get(claimed.keyId());
        boolean first = run == null;
        if (run == null) {
          run = Parcel.newRun();
          runs.put(claimed.keyId(), run);
        }
        Parcel parcel = new Parcel(claimed, lease, sink, check, run);
        (first || destination.keepsOrder() ? waiting : run).add(parcel);
      }
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Looks at a message before it is sent; what it refuses never is. */
  @FunctionalInterface
  public interface Check {
    @Nullable Outcome refuse(Claimed claimed);
  }

  /** Tells that messages were settled, so their room is free. */
  public void settled(int messages, long bytes) {
    lock.lock();
    try {
      inFlight -= messages;
      bytesInFlight -= bytes;
    } finally {
      lock.unlock();
    }
  }

  /** Fails what has waited for its answer too long, and frees a thread stuck in the destination. */
  public void sweep() {
    long now = System.nanoTime();
    List<Runnable> calls = new ArrayList<>();
    lock.lock();
    try {
      Iterator<Parcel> oldest = sent.iterator();
      boolean stuck = false;
      while (oldest.hasNext()) {
        Parcel parcel = oldest.next();
        if (now - parcel.sentAtNanos < options.timeout().toNanos()) {
          break;
        }
        oldest.remove();
        parcel.stage = Parcel.Stage.TIMED_OUT;
        stuck = true;
        String after = "no answer within " + options.timeout().toMillis() + " ms";
        finish(parcel, Outcome.retryable("timeout", after), now, calls);
      }
      if (stuck && delivering) {
        thread.interrupt();
      }
    } finally {
      lock.unlock();
    }
    calls.forEach(Runnable::run);
  }

  /** Gives back, unsent, everything that is not with the destination yet. */
  public void releaseWaiting() {
    List<Runnable> calls = new ArrayList<>();
    lock.lock();
    try {
      releaseWaiting(calls);
    } finally {
      lock.unlock();
    }
    calls.forEach(Runnable::run);
  }

  /** Gives back everything, also what the destination still has: its answer would come too late. */
  public void abandon() {
    List<Runnable> calls = new ArrayList<>();
    lock.lock();
    try {
      releaseWaiting(calls);
      for (Parcel parcel : sent) {
        releaseRun(parcel, calls);
        release(parcel, calls);
      }
      sent.clear();
    } finally {
      lock.unlock();
    }
    calls.forEach(Runnable::run);
  }

  /** Messages submitted and not yet settled. */
  public int inFlight() {
    lock.lock();
    try {
      return inFlight;
    } finally {
      lock.unlock();
    }
  }

  public String breakerState() {
    lock.lock();
    try {
      return breaker.state(System.nanoTime()).label();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
    thread.interrupt();
    try {
      destination.close();
    } catch (RuntimeException e) {
      log.warn("event=outbox_destination_close_failed destination={}", name, e);
    }
  }

  private void pump() {
    while (true) {
      List<Parcel> batch;
      List<Runnable> calls = new ArrayList<>();
      lock.lock();
      try {
        batch = nextBatch(calls);
      } catch (InterruptedException e) {
        continue; // a timeout's interrupt that came too late, or close()
      } finally {
        lock.unlock();
      }
      calls.forEach(Runnable::run);
      if (batch == null) {
        return;
      }
      if (!batch.isEmpty()) {
        deliver(batch);
      }
    }
  }

  /** Null when closed; empty when everything had to be released. */
  private @Nullable List<Parcel> nextBatch(List<Runnable> calls) throws InterruptedException {
    while (!closed && (waiting.isEmpty() || sent.size() >= concurrency)) {
      changed.await();
    }
    if (closed) {
      return null;
    }
    long now = System.nanoTime();
    List<Parcel> batch = new ArrayList<>();
    while (!waiting.isEmpty() && sent.size() < concurrency) {
      Parcel parcel = waiting.poll();
      Outcome refused = parcel.check.refuse(parcel.claimed);
      if (refused != null) {
        parcel.stage = Parcel.Stage.ANSWERED;
        parcel.sentAtNanos = now;
        finish(parcel, refused, now, calls);
      } else if (parcel.lease.holds(now)) {
        parcel.stage = Parcel.Stage.SENT;
        parcel.sentAtNanos = now;
        sent.add(parcel);
        batch.add(parcel);
      } else {
        release(parcel, calls);
        releaseRun(parcel, calls);
      }
    }
    return batch;
  }

  private void deliver(List<Parcel> batch) {
    Map<UUID, Parcel> byId = new HashMap<>();
    List<Message> messages = new ArrayList<>(batch.size());
    for (Parcel parcel : batch) {
      byId.put(parcel.id(), parcel);
      messages.add(parcel.claimed.message());
      listener.sent(name, parcel.claimed.message());
    }
    delivering(true);
    try {
      destination.deliver(
          List.copyOf(messages), (id, outcome) -> answer(byId.get(id), id, outcome));
    } catch (Throwable e) {
      String error = e.getClass().getSimpleName() + ": " + e.getMessage();
      log.warn("event=outbox_destination_threw destination={}", name, e);
      for (Parcel parcel : batch) {
        answerIfSent(parcel, Outcome.retryable("destination_threw", error));
      }
    } finally {
      delivering(false);
    }
  }

  /** Under the lock, so that an interrupt meant for a stuck delivery never hits the next one. */
  private void delivering(boolean value) {
    lock.lock();
    try {
      delivering = value;
      boolean unused = Thread.interrupted();
    } finally {
      lock.unlock();
    }
  }

  private void answerIfSent(Parcel parcel, Outcome outcome) {
    List<Runnable> calls = new ArrayList<>();
    lock.lock();
    try {
      if (sent.remove(parcel)) {
        parcel.stage = Parcel.Stage.ANSWERED;
        finish(parcel, outcome, System.nanoTime(), calls);
      }
    } finally {
      lock.unlock();
    }
    calls.forEach(Runnable::run);
  }

  private void answer(@Nullable Parcel parcel, UUID id, @Nullable Outcome outcome) {
    if (parcel == null) {
      violation("answered for message " + id + ", which was not in the batch");
      return;
    }
    Outcome given = outcome;
    if (given == null) {
      violation("answered null for message " + id);
      given = Outcome.retryable("null_answer", "the destination answered null");
    }
    boolean twice = false;
    List<Runnable> calls = new ArrayList<>();
    lock.lock();
    try {
      long now = System.nanoTime();
      switch (parcel.stage) {
        case SENT -> {
          parcel.stage = Parcel.Stage.ANSWERED;
          sent.remove(parcel);
          finish(parcel, given, now, calls);
        }
        case TIMED_OUT -> {
          // Late: settled under its old lease it is refused, and so recorded as a conflict.
          parcel.stage = Parcel.Stage.ANSWERED;
          inFlight++;
          bytesInFlight += parcel.claimed.message().payload().length;
          Answered late = new Answered(parcel.claimed, given, parcel.latencyMs(now), true);
          calls.add(() -> parcel.sink.accept(late));
        }
        case ANSWERED, WAITING -> twice = true;
      }
    } finally {
      lock.unlock();
    }
    calls.forEach(Runnable::run);
    if (twice) {
      violation("answered twice for message " + id);
    }
  }

  private void violation(String what) {
    log.warn("event=outbox_destination_violation destination={} what=\"{}\"", name, what);
    listener.violation(name, what);
  }

  /** Takes an answer: breaker, the key's next message, the sink. Holds the lock. */
  private void finish(Parcel parcel, Outcome outcome, long now, List<Runnable> calls) {
    Answered answered = new Answered(parcel.claimed, outcome, parcel.latencyMs(now), false);
    calls.add(() -> parcel.sink.accept(answered));
    if (outcome instanceof Outcome.Delivered) {
      breaker.succeeded();
      Parcel next = parcel.run == null ? null : parcel.run.poll();
      if (next != null) {
        waiting.add(next);
      }
    } else {
      releaseRun(parcel, calls);
      if (!(outcome instanceof Outcome.Terminal) && breaker.failed(now)) {
        releaseWaiting(calls);
      }
    }
    changed.signal();
  }

  private void releaseWaiting(List<Runnable> calls) {
    for (Parcel parcel : waiting) {
      release(parcel, calls);
      if (parcel.run != null) {
        parcel.run.forEach(follower -> release(follower, calls));
        parcel.run.clear();
      }
    }
    waiting.clear();
  }

  /** What stands behind this message in its key's run may not go before it. */
  private void releaseRun(Parcel parcel, List<Runnable> calls) {
    if (parcel.run == null) {
      return;
    }
    parcel.run.forEach(follower -> release(follower, calls));
    parcel.run.clear();
    if (destination.keepsOrder()) {
      waiting.removeIf(
          other -> {
            boolean behind = other.run == parcel.run;
            if (behind) {
              release(other, calls);
            }
            return behind;
          });
    }
  }

  private static void release(Parcel parcel, List<Runnable> calls) {
    parcel.stage = Parcel.Stage.ANSWERED;
    calls.add(() -> parcel.sink.accept(new Answered(parcel.claimed, null, 0, false)));
  }
}

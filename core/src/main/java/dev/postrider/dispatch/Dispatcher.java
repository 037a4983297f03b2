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
import java.util.function.IntSupplier;
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
  private final IntSupplier inFlightGauge = this::inFlight;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Parcel> waiting = new ArrayDeque<>();
  private final Set<Parcel> sent = new LinkedHashSet<>();
  private final CircuitBreaker breaker;
  private final Capacity capacity;
  private boolean delivering;
  private boolean draining;
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
    this.capacity = new Capacity(options);
    this.thread = new Thread(this::pump, "postrider-dispatch-" + name);
    thread.setDaemon(true);
  }

  public void start() {
    listener.opened(name, inFlightGauge);
    thread.start();
  }

  public String name() {
    return name;
  }

  /**
   * Sets room aside for a claim, so that claims running at the same time never exceed the limits
   * together. Null if there is none, or so little that a claim is not worth its while. Ends with
   * {@link #unreserve}, after what was claimed has been submitted.
   *
   * @param claims how many may run at the same time; each gets its share
   */
  public @Nullable Room reserve(int batchSize, int claims) {
    lock.lock();
    try {
      return draining
          ? null
          : capacity.reserve(breaker.state(System.nanoTime()), batchSize, claims);
    } finally {
      lock.unlock();
    }
  }

  public void unreserve(Room room) {
    lock.lock();
    try {
      capacity.unreserve(room);
    } finally {
      lock.unlock();
    }
  }

  /**
   * What may be claimed.
   *
   * @param probe whether it is a single message, to see if the destination is back
   */
  public record Room(int messages, long bytes, boolean probe) {}

  /** Takes claimed messages, a key's in their order; the sink hears of each. */
  public void submit(List<Claimed> batch, LeaseClock lease, Consumer<Answered> sink, Check check) {
    Map<Long, Run> runs = new HashMap<>();
    List<Runnable> calls = new ArrayList<>();
    lock.lock();
    try {
      for (Claimed claimed : batch) {
        capacity.took(claimed);
        Run run = claimed.ordered() ? runs.get(claimed.keyId()) : null;
        if (run != null) {
          run.behind.add(new Parcel(claimed, lease, sink, check, run));
          continue;
        }
        if (claimed.ordered()) {
          run = new Run();
          runs.put(claimed.keyId(), run);
        }
        waiting.add(new Parcel(claimed, lease, sink, check, run));
      }
      holdBack(calls);
      changed.signal();
    } finally {
      lock.unlock();
    }
    calls.forEach(Runnable::run);
  }

  /** What was claimed before the breaker opened, or before draining began, must not go now. */
  private void holdBack(List<Runnable> calls) {
    CircuitBreaker.State state = breaker.state(System.nanoTime());
    if (draining || state == CircuitBreaker.State.OPEN) {
      releaseWaiting(calls);
    } else if (state == CircuitBreaker.State.HALF_OPEN) {
      Parcel probe = sent.isEmpty() ? waiting.poll() : null;
      releaseWaiting(calls);
      if (probe != null) {
        waiting.add(probe);
      }
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
      capacity.settled(messages, bytes);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Fails what has waited for its answer too long, and frees a thread stuck in the destination.
   * Returns whether the breaker has just become ready for a probe.
   */
  public boolean sweep() {
    long now = System.nanoTime();
    List<Runnable> calls = new ArrayList<>();
    boolean ready;
    lock.lock();
    try {
      ready = breaker.due(now);
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
        judge(Outcome.retryable("timeout", after), now, calls);
      }
      if (stuck && delivering) {
        thread.interrupt();
      }
    } finally {
      lock.unlock();
    }
    calls.forEach(Runnable::run);
    return ready;
  }

  /** Sends no more: gives back everything that is not with the destination yet, and what comes. */
  public void drain() {
    List<Runnable> calls = new ArrayList<>();
    lock.lock();
    try {
      draining = true;
      releaseWaiting(calls);
      sent.forEach(parcel -> releaseBehind(parcel.run, calls));
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
      draining = true;
      releaseWaiting(calls);
      for (Parcel parcel : sent) {
        releaseBehind(parcel.run, calls);
        release(parcel, calls);
        parcel.stage = Parcel.Stage.ABANDONED;
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
      return capacity.inFlight();
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
    listener.closed(name, inFlightGauge);
    try {
      destination.close();
    } catch (RuntimeException e) {
      log.warn("event=outbox_destination_close_failed destination={}", name, e);
    }
  }

  private void pump() {
    while (true) {
      List<Parcel> taken;
      lock.lock();
      try {
        taken = take();
      } catch (InterruptedException e) {
        continue; // a timeout's interrupt that came too late, or close()
      } finally {
        lock.unlock();
      }
      if (taken == null) {
        return;
      }
      send(taken);
    }
  }

  /** Waits for messages that may be handed over; null when closed. Holds the lock. */
  private @Nullable List<Parcel> take() throws InterruptedException {
    while (!closed && (waiting.isEmpty() || sent.size() >= concurrency)) {
      changed.await();
    }
    if (closed) {
      return null;
    }
    long now = System.nanoTime();
    List<Parcel> taken = new ArrayList<>();
    while (!waiting.isEmpty() && sent.size() < concurrency) {
      Parcel parcel = waiting.remove();
      handOver(parcel, now, taken);
      // What does not fit waits for the whole batch's answers: order is kept within a batch only.
      Run run = parcel.run;
      while (run != null
          && destination.keepsOrder()
          && !run.behind.isEmpty()
          && sent.size() < concurrency) {
        handOver(run.behind.remove(), now, taken);
      }
    }
    return taken;
  }

  /** From here on the timeout runs, for the check as well as for the destination. */
  private void handOver(Parcel parcel, long now, List<Parcel> taken) {
    parcel.stage = Parcel.Stage.SENT;
    parcel.sentAtNanos = now;
    if (parcel.run != null) {
      parcel.run.sent++;
    }
    sent.add(parcel);
    taken.add(parcel);
  }

  private void send(List<Parcel> taken) {
    delivering(true);
    try {
      for (Parcel parcel : taken) {
        Outcome refused = parcel.check.refuse(parcel.claimed);
        if (refused != null) {
          answerIfSent(parcel, refused, false);
        }
      }
      List<Parcel> ready = ready(taken);
      if (!ready.isEmpty()) {
        deliver(ready);
      }
    } catch (Throwable e) {
      String error = e.getClass().getSimpleName() + ": " + e.getMessage();
      log.warn("event=outbox_destination_threw destination={}", name, e);
      for (Parcel parcel : taken) {
        answerIfSent(parcel, Outcome.retryable("destination_threw", error), true);
      }
    } finally {
      delivering(false);
    }
  }

  /** Those that passed their check and whose lease still holds; the others are given back. */
  private List<Parcel> ready(List<Parcel> taken) {
    List<Parcel> ready = new ArrayList<>(taken.size());
    List<Runnable> calls = new ArrayList<>();
    lock.lock();
    try {
      long now = System.nanoTime();
      for (Parcel parcel : taken) {
        if (parcel.stage != Parcel.Stage.SENT) {
          continue;
        }
        if (parcel.lease.holds(now) && (parcel.run == null || !parcel.run.broken)) {
          ready.add(parcel);
        } else {
          sent.remove(parcel);
          breakRun(parcel.run, calls);
          release(parcel, calls);
        }
      }
    } finally {
      lock.unlock();
    }
    calls.forEach(Runnable::run);
    return ready;
  }

  private void deliver(List<Parcel> batch) {
    Map<UUID, Parcel> byId = new HashMap<>();
    List<Message> messages = new ArrayList<>(batch.size());
    for (Parcel parcel : batch) {
      byId.put(parcel.id(), parcel);
      messages.add(parcel.claimed.message());
      listener.sent(name, parcel.claimed.message());
    }
    destination.deliver(List.copyOf(messages), (id, outcome) -> answer(byId.get(id), id, outcome));
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

  /**
   * @param judged whether the answer says something about the destination
   */
  private void answerIfSent(Parcel parcel, Outcome outcome, boolean judged) {
    List<Runnable> calls = new ArrayList<>();
    lock.lock();
    try {
      if (sent.remove(parcel)) {
        parcel.stage = Parcel.Stage.ANSWERED;
        long now = System.nanoTime();
        finish(parcel, outcome, now, calls);
        if (judged) {
          judge(outcome, now, calls);
        }
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
          judge(given, now, calls);
        }
        case TIMED_OUT -> {
          // Late: settled under its old lease it is refused, and so recorded as a conflict.
          parcel.stage = Parcel.Stage.ANSWERED;
          capacity.took(parcel.claimed);
          Answered late = new Answered(parcel.claimed, given, parcel.latencyMs(now), true);
          calls.add(() -> parcel.sink.accept(late));
        }
        case ABANDONED -> log.debug("{} answered for {} after the deadline", name, id);
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

  /** Takes an answer: the sink, and what stands behind the message. Holds the lock. */
  private void finish(Parcel parcel, Outcome outcome, long now, List<Runnable> calls) {
    Answered answered = new Answered(parcel.claimed, outcome, parcel.latencyMs(now), false);
    calls.add(() -> parcel.sink.accept(answered));
    Run run = parcel.run;
    if (!(outcome instanceof Outcome.Delivered)) {
      breakRun(run, calls);
    } else if (run != null && --run.sent == 0 && !run.behind.isEmpty()) {
      waiting.add(run.behind.remove());
    }
    changed.signal();
  }

  /** What an answer says about the destination as a whole. Holds the lock. */
  private void judge(Outcome outcome, long now, List<Runnable> calls) {
    if (outcome instanceof Outcome.Delivered) {
      breaker.succeeded();
    } else if (!(outcome instanceof Outcome.Terminal) && breaker.failed(now)) {
      releaseWaiting(calls);
    }
  }

  private void releaseWaiting(List<Runnable> calls) {
    for (Parcel parcel : waiting) {
      release(parcel, calls);
      releaseBehind(parcel.run, calls);
    }
    waiting.clear();
  }

  /** A message of the run did not arrive: what stands behind it may not go before it. */
  private static void breakRun(@Nullable Run run, List<Runnable> calls) {
    if (run != null) {
      run.sent--;
      run.broken = true;
      releaseBehind(run, calls);
    }
  }

  private static void releaseBehind(@Nullable Run run, List<Runnable> calls) {
    if (run != null) {
      run.behind.forEach(follower -> release(follower, calls));
      run.behind.clear();
    }
  }

  private static void release(Parcel parcel, List<Runnable> calls) {
    parcel.stage = Parcel.Stage.ANSWERED;
    calls.add(() -> parcel.sink.accept(new Answered(parcel.claimed, null, 0, false)));
  }
}

package dev.postrider.dispatch;

import dev.postrider.message.Answered;
import dev.postrider.message.Claimed;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.observe.RelayListener;
import dev.postrider.observe.Silenced;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
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

  private static final Pattern TYPE = Pattern.compile("[\\w.-]{1,100}");

  private final String name;
  private final String type;
  private final Destination destination;
  private final DestinationOptions options;
  private final RelayListener listener;
  private final int concurrency;
  private final Thread thread;
  private final IntSupplier inFlightGauge = this::inFlight;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Breakers breakers;
  private final Parcels parcels;
  private final Capacity capacity;
  private boolean delivering;
  private boolean draining;
  private boolean closed;

  public Dispatcher(
      String name, Destination destination, DestinationOptions options, RelayListener listener) {
    this.name = name;
    this.type = type(destination);
    this.destination = destination;
    this.options = options;
    this.listener = listener;
    this.concurrency = Math.min(options.concurrency(), destination.concurrency());
    this.breakers = new Breakers(name, destination, options, listener);
    this.parcels = new Parcels(breakers);
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

  /** The destination's type, or {@code custom} if it has none that can be shown. */
  public String type() {
    return type;
  }

  private static String type(Destination destination) {
    try {
      String type = destination.type();
      return type != null && TYPE.matcher(type).matches() ? type : "custom";
    } catch (RuntimeException e) {
      return "custom";
    }
  }

  /** Does something under the lock, then tells the sinks what came of it, without the lock. */
  private void locked(Runnable work) {
    List<Runnable> calls;
    lock.lock();
    try {
      work.run();
      calls = parcels.takeCalls();
      changed.signal();
    } finally {
      lock.unlock();
    }
    calls.forEach(Runnable::run);
  }

  private <T> T read(Supplier<T> value) {
    lock.lock();
    try {
      return value.get();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sets room aside for a claim, so that claims running at the same time never exceed the limits
   * together. Null if there is none, or so little that a claim is not worth its while. Ends with
   * {@link #unreserve}, after what was claimed has been submitted.
   *
   * @param claims how many may run at the same time; each gets its share
   * @param leaving what the transaction of the claim settles: its room is free already
   */
  public @Nullable Room reserve(int batchSize, int claims, Amount leaving) {
    lock.lock();
    try {
      return draining
          ? null
          : capacity.reserve(breakers, batchSize, claims, leaving, System.nanoTime());
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
   * @param probe whether one of them is to show if the destination is back
   * @param alone whether it is for a single suspect
   */
  public record Room(int messages, long bytes, boolean probe, boolean alone) {}

  /** A suspect waits to be sent alone; returns whether its turn begins now. */
  public boolean isolateSuspect() {
    lock.lock();
    try {
      return capacity.isolateSuspect(System.nanoTime());
    } finally {
      lock.unlock();
    }
  }

  /** Takes claimed messages, a key's in their order; the sink hears of each. */
  public void submit(List<Claimed> batch, LeaseClock lease, Consumer<Answered> sink, Check check) {
    locked(
        () -> {
          batch.forEach(capacity::took);
          parcels.add(batch, lease, sink, check);
          holdBack();
        });
  }

  /** What was claimed before the breaker opened, or before draining began, must not go now. */
  private void holdBack() {
    long now = System.nanoTime();
    CircuitBreaker.State state = breakers.state(now);
    if (draining || state == CircuitBreaker.State.OPEN) {
      parcels.releaseWaiting();
    } else if (state == CircuitBreaker.State.HALF_OPEN) {
      parcels.keepProbe(now);
    }
  }

  /** Looks at a message before it is sent; what it refuses never is. */
  @FunctionalInterface
  public interface Check {
    @Nullable Outcome refuse(Claimed claimed);
  }

  /** Tells that messages were settled, so their room is free. */
  public void settled(Amount amount) {
    lock.lock();
    try {
      capacity.settled(amount);
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
    boolean[] ready = {false};
    locked(
        () -> {
          ready[0] = breakers.sweep(now);
          List<Parcel> late = parcels.timeOut(now - options.timeout().toNanos());
          if (!late.isEmpty() && delivering) {
            thread.interrupt();
          }
          String after = "no answer within " + options.timeout().toMillis() + " ms";
          Outcome timeout = Outcome.retryable("timeout", after);
          late.forEach(parcel -> judge(parcel, timeout, Breakers.Failure.TIMEOUT, now));
        });
    return ready[0];
  }

  /** Sends no more: gives back everything that is not with the destination yet, and what comes. */
  public void drain() {
    locked(
        () -> {
          draining = true;
          parcels.releaseWaiting();
          parcels.releaseFollowers();
        });
  }

  /** Gives back everything, also what the destination still has: its answer would come too late. */
  public void abandon() {
    locked(
        () -> {
          draining = true;
          parcels.releaseWaiting();
          parcels.abandonSent();
        });
  }

  /** Messages submitted and not yet settled. */
  public int inFlight() {
    return read(capacity::inFlight);
  }

  public String breakerState() {
    return read(() -> breakers.state(System.nanoTime()).label());
  }

  /** How many targets of the destination are left alone for a while, because they fail. */
  public int openTargets() {
    return read(breakers::openTargets);
  }

  @Override
  public void close() {
    locked(
        () -> {
          closed = true;
          breakers.close();
        });
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
    while (!closed && (!parcels.isWaiting() || parcels.sentCount() >= concurrency)) {
      changed.await();
    }
    return closed
        ? null
        : parcels.handOver(concurrency, destination.keepsOrder(), System.nanoTime());
  }

  private void send(List<Parcel> taken) {
    delivering(true);
    try {
      for (Parcel parcel : taken) {
        Outcome refused = parcel.check.refuse(parcel.claimed);
        if (refused != null) {
          refuse(parcel, refused);
        }
      }
      List<Parcel> ready = new ArrayList<>();
      locked(() -> ready.addAll(parcels.ready(taken, System.nanoTime())));
      if (!ready.isEmpty()) {
        deliver(ready);
      }
    } catch (Throwable e) {
      log.warn("event=outbox_destination_threw destination={}", name, Silenced.of(e));
      String error = ErrorReport.of(e);
      taken.forEach(parcel -> threw(parcel, error));
    } finally {
      delivering(false);
    }
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

  /** Never sent, so it says nothing about the destination. */
  private void refuse(Parcel parcel, Outcome refused) {
    locked(
        () -> {
          if (parcels.takeBack(parcel)) {
            parcels.finish(parcel, refused, null, System.nanoTime());
          }
        });
  }

  private void threw(Parcel parcel, String error) {
    Outcome outcome = Outcome.retryable("destination_threw", error);
    locked(
        () -> {
          if (parcels.takeBack(parcel)) {
            judge(parcel, outcome, Breakers.Failure.THROWN, System.nanoTime());
          }
        });
  }

  private void answer(@Nullable Parcel parcel, UUID id, @Nullable Outcome outcome) {
    if (parcel == null) {
      violation("answered for message " + id + ", which was not in the batch");
      return;
    }
    if (outcome == null) {
      violation("answered null for message " + id);
    }
    Outcome given =
        outcome == null
            ? Outcome.retryable("null_answer", "the destination answered null")
            : outcome;
    boolean[] twice = {false};
    locked(() -> twice[0] = !answered(parcel, given));
    if (twice[0]) {
      violation("answered twice for message " + id);
    }
  }

  /** Returns false if it is not the first answer. Holds the lock. */
  private boolean answered(Parcel parcel, Outcome given) {
    long now = System.nanoTime();
    switch (parcel.stage) {
      case SENT -> {
        parcels.takeBack(parcel);
        judge(parcel, given, Breakers.Failure.ANSWER, now);
      }
      case TIMED_OUT -> {
        capacity.took(parcel.claimed);
        parcels.finishLate(parcel, given, now);
      }
      case ABANDONED -> log.debug("{} answered for {} after the deadline", name, parcel.id());
      case ANSWERED, WAITING -> {
        return false;
      }
    }
    return true;
  }

  private void violation(String what) {
    log.warn("event=outbox_destination_violation destination={} what=\"{}\"", name, what);
    listener.violation(name, what);
  }

  /** What an answer says about the destination, its target and the message. Holds the lock. */
  private void judge(Parcel parcel, Outcome outcome, Breakers.Failure failure, long now) {
    Duration deferral = breakers.judge(parcel, outcome, failure, now);
    parcels.finish(parcel, outcome, deferral, now);
    if (breakers.state(now) == CircuitBreaker.State.OPEN) {
      parcels.releaseWaiting();
    }
  }
}

package dev.postrider.internal.dispatch;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.message.Outcome;
import dev.postrider.observe.RelayListener;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
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
  private final IntSupplier inFlightGauge = this::inFlight;
  private final Breakers breakers;
  private final Sinks sinks = new Sinks();
  private final DispatchQueue queue;
  private final Capacity capacity;
  private final Sender sender;
  private final DispatchLock lock;
  private boolean draining;

  public Dispatcher(
      String name, Destination destination, DestinationOptions options, RelayListener listener) {
    this.name = name;
    this.type = type(destination);
    this.destination = destination;
    this.options = options;
    this.listener = listener;
    this.breakers = new Breakers(name, destination, options, listener);
    this.queue = new DispatchQueue(breakers, sinks, options.maxBytesInFlight());
    this.capacity = new Capacity(options);
    this.sender =
        new Sender(
            name,
            destination,
            Math.min(options.concurrency(), destination.concurrency()),
            listener,
            new Sender.State(queue, breakers, capacity, sinks));
    this.lock = sender.lock();
  }

  public void start() {
    listener.opened(name, inFlightGauge);
    sender.start();
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

  /** Whether {@link #reserve} would find room. */
  public boolean hasRoom(int batchSize, int claims, Amount leaving) {
    return lock.get(
        () ->
            !draining
                && capacity.room(breakers, batchSize, claims, leaving, System.nanoTime()) != null);
  }

  /**
   * Sets room aside for a claim, so that claims running at the same time never exceed the limits
   * together. Returns null if there is too little room for a claim. {@link #keep} frees what the
   * claim did not use. {@link #unreserve} frees the rest after the messages are submitted.
   *
   * @param claims how many may run at the same time; each gets its share
   * @param leaving what the transaction of the claim settles: its room is free already
   */
  public @Nullable Room reserve(int batchSize, int claims, Amount leaving) {
    return lock.get(
            () ->
                Optional.ofNullable(
                    draining
                        ? null
                        : capacity.reserve(
                            breakers, batchSize, claims, leaving, System.nanoTime())))
        .orElse(null);
  }

  /** Frees the room that a claim did not use, and returns the rest. */
  public Room keep(Room room, Amount claimed) {
    return lock.get(() -> capacity.keep(room, claimed, System.nanoTime()));
  }

  public void unreserve(Room room) {
    lock.run(() -> capacity.unreserve(room, System.nanoTime()));
  }

  /**
   * What may be claimed.
   *
   * @param probe whether one of them is to show if the destination is back
   * @param alone whether it is for a single suspect
   */
  public record Room(int messages, long bytes, boolean probe, boolean alone) {}

  /** A suspect waits to be sent alone; returns whether others make way for it from now on. */
  public boolean isolateSuspect() {
    return lock.get(() -> capacity.isolateSuspect(System.nanoTime()));
  }

  /** Takes claimed messages, a key's in their order; the sink hears of each. */
  public void submit(List<Claimed> batch, LeaseClock lease, Consumer<Answered> sink, Check check) {
    lock.run(
        () -> {
          batch.forEach(capacity::took);
          queue.add(batch, lease, sink, check);
          holdBack();
        });
  }

  /** What was claimed before the breaker opened, or before draining began, must not go now. */
  private void holdBack() {
    long now = System.nanoTime();
    CircuitBreaker.State state = breakers.state(now);
    if (draining || state == CircuitBreaker.State.OPEN) {
      queue.releaseWaiting();
    } else if (state == CircuitBreaker.State.HALF_OPEN) {
      queue.keepProbe(now);
    }
  }

  /** Looks at a message before it is sent; what it refuses never is. */
  @FunctionalInterface
  public interface Check {
    @Nullable Outcome refuse(Claimed claimed);
  }

  /** Tells that messages were settled, so their room is free. */
  public void settled(Amount amount) {
    lock.run(() -> capacity.settled(amount, System.nanoTime()));
  }

  /**
   * Fails what has waited for its answer too long, and frees a thread stuck in the destination.
   * Returns whether the breaker has just become ready for a probe.
   */
  public boolean sweep() {
    long now = System.nanoTime();
    return lock.get(
        () -> {
          boolean ready = breakers.sweep(now);
          sinks.reportOlder(now);
          sender.timeOut(options.timeout(), now);
          if (capacity.makesWay(now)) {
            releaseUnsent();
          }
          return ready;
        });
  }

  /** Sends no more: gives back everything that is not with the destination yet, and what comes. */
  public void drain() {
    lock.run(
        () -> {
          draining = true;
          releaseUnsent();
        });
  }

  private void releaseUnsent() {
    queue.releaseWaiting();
    queue.releaseFollowers();
  }

  /** Gives back everything, also what the destination still has: its answer would come too late. */
  public void abandon() {
    lock.run(
        () -> {
          draining = true;
          queue.releaseWaiting();
          queue.abandonSent();
        });
  }

  /** Messages submitted and not yet settled. */
  public int inFlight() {
    return lock.get(capacity::inFlight);
  }

  public String breakerState() {
    return lock.get(() -> breakers.state(System.nanoTime()).label());
  }

  /** When an open breaker lets a probe pass, by {@link System#nanoTime}. */
  public long probeAtNanos() {
    return lock.get(breakers::probeAtNanos);
  }

  /** How many targets of the destination are left alone for a while, because they fail. */
  public int openTargets() {
    return lock.get(breakers::openTargets);
  }

  @Override
  public void close() {
    lock.run(breakers::close);
    sender.close();
    listener.closed(name, inFlightGauge);
    try {
      destination.close();
    } catch (RuntimeException e) {
      log.warn(
          "{}",
          LogLine.of("outbox_destination_close_failed").put("destination", name),
          Silenced.of(e));
    }
  }
}

package dev.postrider.rabbitmq;

import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import dev.postrider.message.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection with its channels, from its opening to its end. Thread-safe; what waits for the
 * broker's reply runs on the worker's single thread.
 */
final class Link implements Lane.Watcher, BlockedListener {
  private static final Logger log = LoggerFactory.getLogger(Link.class);

  /** More than this is not queued for the socket, besides the message that exceeds it. */
  private static final long QUEUED_BYTES = 1 << 20;

  private static final long WRITE_TIMEOUT_NANOS = 5_000_000_000L;
  private static final long WRITE_POLL_NANOS = 200_000;
  private static final int ABORT_MILLIS = 2_000;

  private final Wire.Open wire;
  private final RabbitConfig config;
  private final Suspects suspects;
  private final Executor worker;
  private final Runnable onEnd;
  private final Quarantine quarantine;
  private final CopyOnWriteArrayList<Lane> lanes = new CopyOnWriteArrayList<>();
  private final CopyOnWriteArrayList<Lane> retired = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Outcome> end = new AtomicReference<>();
  private final AtomicLong handedOver = new AtomicLong();
  private volatile @Nullable Outcome blocked;
  private volatile long confirmedAtNanos;

  Link(Wire.Open wire, RabbitConfig config, Suspects suspects, Executor worker, Runnable onEnd) {
    this.wire = wire;
    this.config = config;
    this.suspects = suspects;
    this.worker = worker;
    this.onEnd = onEnd;
    this.quarantine = new Quarantine(this, config, worker);
    this.confirmedAtNanos = System.nanoTime() - config.confirmTimeout().toNanos();
  }

  /** Opens its channels; on the worker's thread. */
  void open() throws IOException {
    connection().addBlockedListener(this);
    connection().addShutdownListener(signal -> fail(Replies.connectionClosed(signal)));
    while (lanes.size() < config.channels()) {
      lanes.add(newLane(this));
    }
  }

  private Connection connection() {
    return wire.connection();
  }

  Lane newLane(Lane.Watcher watcher) throws IOException {
    com.rabbitmq.client.Channel channel = connection().createChannel();
    if (channel == null) {
      throw new IOException("the broker allows no more channels on this connection");
    }
    return new Lane(channel, watcher, config.mandatory());
  }

  /** The channels that a batch may use. */
  List<Lane> openLanes() {
    List<Lane> open = new ArrayList<>(lanes.size());
    lanes.forEach(
        lane -> {
          if (lane.isOpen()) {
            open.add(lane);
          }
        });
    return open;
  }

  Quarantine quarantine() {
    return quarantine;
  }

  Suspects suspects() {
    return suspects;
  }

  /**
   * Publishes some parcels, each on its lane; returns at once. The client writes in order only what
   * is written on the network thread: frames from another thread can come after its own answer to a
   * closed channel, and the broker then closes the connection.
   */
  void publish(List<Consignment> consignments, long bytes) {
    handedOver.addAndGet(bytes);
    Runnable task =
        () -> {
          handedOver.addAndGet(-bytes);
          consignments.forEach(Consignment::publish);
        };
    try {
      wire.onNetworkThread(task);
    } catch (RejectedExecutionException e) {
      Outcome closed = Outcome.unavailable("closed", "the destination is closed");
      consignments.forEach(consignment -> consignment.parcel().settle(closed));
    }
  }

  /** Publishes one that was suspect; false if no channel or not enough room is there for it. */
  boolean publishFreed(Parcel parcel) {
    List<Lane> open = openLanes();
    if (open.isEmpty() || !hasRoom()) {
      return false;
    }
    Lane lane = open.get(Math.floorMod(parcel.id.hashCode(), open.size()));
    publish(List.of(new Consignment(lane, parcel)), parcel.letter.body().length);
    return true;
  }

  /** A parcel and its way. */
  record Consignment(Lane lane, Parcel parcel) {
    private void publish() {
      lane.publish(parcel);
    }
  }

  /**
   * Waits until the socket takes more; why it will not, or null. The wait is here, and not inside
   * the client, which would hold locks that the network thread needs.
   */
  @Nullable Outcome obstacle() {
    long start = System.nanoTime();
    while (true) {
      Outcome why = closedOrBlocked();
      if (why != null || hasRoom()) {
        return why;
      }
      if (Thread.currentThread().isInterrupted()) {
        return Outcome.unavailable("interrupted", "publishing was interrupted");
      }
      if (System.nanoTime() - start > WRITE_TIMEOUT_NANOS) {
        fail(Outcome.unavailable("write_timeout", "the broker does not read what is written"));
      }
      LockSupport.parkNanos(WRITE_POLL_NANOS);
    }
  }

  private boolean hasRoom() {
    return handedOver.get() + wire.queuedBytes() <= QUEUED_BYTES;
  }

  /** Nobody can wait on the network thread: while the socket is full, the relay's thread does. */
  @Override
  public boolean takesNext() {
    return !config.pipelining() && hasRoom() && closedOrBlocked() == null;
  }

  @Nullable Outcome closedOrBlocked() {
    Outcome over = end.get();
    return over == null ? blocked : over;
  }

  @Override
  public void handleBlocked(String reason) {
    blocked = Outcome.unavailable("blocked", "the broker has blocked publishing: " + reason);
    log.warn("event=outbox_rabbitmq_blocked reason=\"{}\"", reason);
  }

  @Override
  public void handleUnblocked() {
    blocked = null;
    log.info("event=outbox_rabbitmq_unblocked");
  }

  @Override
  public void confirmed(Parcel parcel, boolean delivered) {
    confirmedAtNanos = System.nanoTime();
    suspects.clear(parcel);
  }

  /** One of them is to blame. Unless it is the only one, each is published again by itself. */
  @Override
  public void closed(Lane lane, ShutdownSignalException signal, List<Parcel> unconfirmed) {
    log.warn("event=outbox_rabbitmq_channel_closed reason=\"{}\"", Replies.text(signal));
    if (unconfirmed.size() == 1) {
      blame(unconfirmed.get(0), signal);
    } else {
      unconfirmed.forEach(parcel -> suspects.add(parcel.id));
      unconfirmed.forEach(quarantine::add);
    }
    worker.execute(this::repair);
  }

  void blame(Parcel parcel, ShutdownSignalException signal) {
    suspects.add(parcel.id);
    if (Replies.concernsExchange(signal)) {
      suspects.add(parcel.letter.exchange());
    }
    parcel.settle(Replies.refused(signal));
  }

  @Override
  public void retired(Lane lane) {
    retired.add(lane);
    worker.execute(this::repair);
  }

  @Override
  public void broken(Outcome outcome) {
    fail(outcome);
  }

  /** Replaces channels that were closed; on the worker's thread. */
  private void repair() {
    try {
      for (int i = 0; i < lanes.size() && end.get() == null; i++) {
        if (!lanes.get(i).isOpen()) {
          lanes.set(i, newLane(this));
        }
      }
    } catch (IOException | RuntimeException e) {
      fail(Outcome.unavailable("channel_failed", "no channel could be opened: " + Replies.text(e)));
    }
  }

  /** Gives up what is not confirmed in time; regularly, on the worker's thread. */
  void sweep(long nowNanos) {
    Outcome held = blocked;
    Outcome late = held != null ? held : late(nowNanos);
    for (Lane lane : lanes) {
      // A blocked broker has not read what waits; a new channel would have to wait as well.
      if (lane.giveUpOverdue(nowNanos, late) && held == null) {
        lane.retire();
      }
    }
    retired.forEach(lane -> lane.giveUpOverdue(nowNanos, late));
    quarantine.sweep(nowNanos, late);
    if (held == null) {
      closeIdle();
    }
  }

  /** A broker that confirms others is there: it is the message's queue that does not answer. */
  private Outcome late(long nowNanos) {
    String error = "no confirm within " + config.confirmTimeout().toMillis() + " ms";
    return nowNanos - confirmedAtNanos < config.confirmTimeout().toNanos()
        ? Outcome.retryable("confirm_timeout", error)
        : Outcome.unavailable("confirm_timeout", error + ", for any message");
  }

  private void closeIdle() {
    for (Lane lane : retired) {
      if (lane.isIdle()) {
        retired.remove(lane);
        lane.close();
      }
    }
  }

  /** The end of the connection: what is not confirmed is answered, the socket closed. */
  void fail(Outcome outcome) {
    if (end.compareAndSet(null, outcome)) {
      lanes.forEach(lane -> lane.giveUpAll(outcome));
      retired.forEach(lane -> lane.giveUpAll(outcome));
      quarantine.giveUpAll(outcome);
      onEnd.run();
    }
  }

  @Nullable Outcome end() {
    return end.get();
  }

  /** Waits a little for the broker's good-bye, then closes the socket. */
  void close() {
    try {
      connection().abort(ABORT_MILLIS);
    } catch (RuntimeException e) {
      log.debug("closing a RabbitMQ connection failed", e);
    }
  }
}

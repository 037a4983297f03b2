package dev.postrider.rabbitmq;

import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import dev.postrider.internal.text.LogLine;
import dev.postrider.message.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection with its channels, from its opening to its end. Thread-safe; what waits for the
 * broker's reply runs on the worker's single thread.
 */
final class Link implements ConfirmChannel.Watcher, BlockedListener {
  private static final Logger log = LoggerFactory.getLogger(Link.class);

  private static final long WRITE_TIMEOUT_NANOS = 5_000_000_000L;
  private static final long WRITE_POLL_NANOS = 200_000;
  private static final int ABORT_MILLIS = 2_000;

  private final NettyConnections.Open connections;
  private final RabbitConfig config;
  private final Suspects suspects;
  private final Executor worker;
  private final Runnable onEnd;
  private final Quarantine quarantine;
  private final CopyOnWriteArrayList<ConfirmChannel> confirmChannels = new CopyOnWriteArrayList<>();
  private final CopyOnWriteArrayList<ConfirmChannel> retired = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Outcome> end = new AtomicReference<>();
  private final SendQueue sendQueue;
  private volatile @Nullable Outcome blocked;
  private volatile long confirmedAtNanos;

  Link(
      NettyConnections.Open connections,
      RabbitConfig config,
      Suspects suspects,
      Executor worker,
      Runnable onEnd) {
    this.connections = connections;
    this.config = config;
    this.suspects = suspects;
    this.worker = worker;
    this.onEnd = onEnd;
    this.sendQueue = new SendQueue(connections);
    this.quarantine = new Quarantine(this, config, worker);
    this.confirmedAtNanos = System.nanoTime() - config.confirmTimeout().toNanos();
  }

  /** Opens its channels; on the worker's thread. */
  void open() throws IOException {
    connection().addBlockedListener(this);
    connection().addShutdownListener(signal -> fail(Replies.connectionClosed(signal)));
    while (confirmChannels.size() < config.channels()) {
      confirmChannels.add(newChannel(this));
    }
  }

  private Connection connection() {
    return connections.connection();
  }

  ConfirmChannel newChannel(ConfirmChannel.Watcher watcher) throws IOException {
    com.rabbitmq.client.Channel channel = connection().createChannel();
    if (channel == null) {
      throw new IOException("the broker allows no more channels on this connection");
    }
    return new ConfirmChannel(channel, watcher, config.mandatory());
  }

  /** The channels that a batch may use. */
  List<ConfirmChannel> openChannels() {
    List<ConfirmChannel> open = new ArrayList<>(confirmChannels.size());
    confirmChannels.forEach(
        confirmChannel -> {
          if (confirmChannel.isOpen()) {
            open.add(confirmChannel);
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

  /** Publishes some messages, each on its channel; returns at once. */
  void publish(List<QueuedPublish> publishes, long bytes) {
    if (!sendQueue.add(() -> publishes.forEach(QueuedPublish::publish), bytes)) {
      Outcome closed = Outcome.unavailable("closed", "the destination is closed");
      publishes.forEach(publish -> publish.pendingConfirm().settle(closed));
    }
  }

  /** Publishes one that was suspect; false if no channel or not enough room is there for it. */
  boolean publishFreed(PendingConfirm pendingConfirm) {
    List<ConfirmChannel> open = openChannels();
    if (open.isEmpty() || !sendQueue.hasRoom()) {
      return false;
    }
    ConfirmChannel confirmChannel =
        open.get(Math.floorMod(pendingConfirm.id.hashCode(), open.size()));
    publish(
        List.of(new QueuedPublish(confirmChannel, pendingConfirm)),
        pendingConfirm.publication.body().length);
    return true;
  }

  /** A message and the channel it goes through. */
  record QueuedPublish(ConfirmChannel confirmChannel, PendingConfirm pendingConfirm) {
    private void publish() {
      confirmChannel.publish(pendingConfirm);
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
      if (why != null || sendQueue.hasRoom()) {
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

  /** Nobody can wait on the network thread: while the socket is full, the relay's thread does. */
  @Override
  public boolean takesNext() {
    return !config.pipelining() && sendQueue.hasRoom() && closedOrBlocked() == null;
  }

  @Nullable Outcome closedOrBlocked() {
    Outcome over = end.get();
    return over == null ? blocked : over;
  }

  @Override
  public void handleBlocked(String reason) {
    blocked = Outcome.unavailable("blocked", "the broker has blocked publishing: " + reason);
    log.warn("{}", LogLine.of("outbox_rabbitmq_blocked").put("reason", reason));
  }

  @Override
  public void handleUnblocked() {
    blocked = null;
    log.info("{}", LogLine.of("outbox_rabbitmq_unblocked"));
  }

  @Override
  public void confirmed(PendingConfirm pendingConfirm, boolean delivered) {
    confirmedAtNanos = System.nanoTime();
    suspects.clear(pendingConfirm);
  }

  /** One of them is to blame. Unless it is the only one, each is published again by itself. */
  @Override
  public void closed(
      ConfirmChannel confirmChannel,
      ShutdownSignalException signal,
      List<PendingConfirm> unconfirmed) {
    log.warn(
        "{}", LogLine.of("outbox_rabbitmq_channel_closed").put("reason", Replies.text(signal)));
    if (unconfirmed.size() == 1) {
      blame(unconfirmed.get(0), signal);
    } else {
      unconfirmed.forEach(pendingConfirm -> suspects.add(pendingConfirm.id));
      unconfirmed.forEach(quarantine::add);
    }
    worker.execute(this::repair);
  }

  void blame(PendingConfirm pendingConfirm, ShutdownSignalException signal) {
    suspects.add(pendingConfirm.id);
    if (Replies.concernsExchange(signal)) {
      suspects.add(pendingConfirm.publication.exchange());
    }
    pendingConfirm.settle(Replies.refused(signal));
  }

  @Override
  public void retired(ConfirmChannel confirmChannel) {
    retired.add(confirmChannel);
    worker.execute(this::repair);
  }

  @Override
  public void broken(Outcome outcome) {
    fail(outcome);
  }

  /** Replaces channels that were closed; on the worker's thread. */
  private void repair() {
    try {
      for (int i = 0; i < confirmChannels.size() && end.get() == null; i++) {
        if (!confirmChannels.get(i).isOpen()) {
          confirmChannels.set(i, newChannel(this));
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
    for (ConfirmChannel confirmChannel : confirmChannels) {
      // A blocked broker has not read what waits; a new channel would have to wait as well.
      if (confirmChannel.giveUpOverdue(nowNanos, late) && held == null) {
        confirmChannel.retire();
      }
    }
    retired.forEach(confirmChannel -> confirmChannel.giveUpOverdue(nowNanos, late));
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
    for (ConfirmChannel confirmChannel : retired) {
      if (confirmChannel.isIdle()) {
        retired.remove(confirmChannel);
        confirmChannel.close();
      }
    }
  }

  /** The end of the connection: what is not confirmed is answered, the socket closed. */
  void fail(Outcome outcome) {
    if (end.compareAndSet(null, outcome)) {
      confirmChannels.forEach(confirmChannel -> confirmChannel.giveUpAll(outcome));
      retired.forEach(confirmChannel -> confirmChannel.giveUpAll(outcome));
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

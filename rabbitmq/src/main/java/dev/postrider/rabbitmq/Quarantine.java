package dev.postrider.rabbitmq;

import com.rabbitmq.client.ShutdownSignalException;
import dev.postrider.message.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Suspect messages, one at a time on a channel of their own: if the broker closes it, there is no
 * doubt which one did it. Those that are not suspect any more when their turn comes go the usual
 * way. Holds no more than the relay has handed over. Thread-safe; publishes on the worker's single
 * thread.
 */
final class Quarantine implements ConfirmChannel.Watcher {
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final Link link;
  private final RabbitConfig config;
  private final Executor worker;
  private final Queue<PendingConfirm> waiting = new ConcurrentLinkedQueue<>();
  private final Queue<PendingConfirm> condemned = new ConcurrentLinkedQueue<>();
  private volatile @Nullable ConfirmChannel confirmChannel;
  private @Nullable PendingConfirm inFlight;

  Quarantine(Link link, RabbitConfig config, Executor worker) {
    this.link = link;
    this.config = config;
    this.worker = worker;
  }

  void add(PendingConfirm pendingConfirm) {
    waiting.add(pendingConfirm);
    Outcome end = link.end();
    if (end != null) {
      giveUpAll(end); // it came after the others had been given up
    } else {
      worker.execute(this::pump);
    }
  }

  /** Publishes the next if none is on its way; on the worker's thread. */
  private void pump() {
    while (inFlight == null || inFlight.isSettled()) {
      inFlight = null;
      PendingConfirm next = next();
      if (next == null) {
        return;
      }
      Outcome obstacle = obstacle(next);
      if (obstacle == null) {
        publish(next);
      } else {
        next.settle(obstacle);
      }
    }
  }

  /**
   * Those for an exchange that surely closes the channel go last: the others may be innocent. With
   * pipelining all stay in their order, since they may be of one key.
   */
  private @Nullable PendingConfirm next() {
    for (PendingConfirm next = waiting.poll(); next != null; next = waiting.poll()) {
      if (config.pipelining()) {
        return next;
      }
      if (link.suspects().hasExchange(next.publication.exchange())) {
        condemned.add(next);
      } else if (link.suspects().has(next) || !link.publishFreed(next)) {
        return next;
      }
    }
    return condemned.poll();
  }

  /** Half of its time must be left, or it would be blamed for having had to wait. */
  private @Nullable Outcome obstacle(PendingConfirm pendingConfirm) {
    Outcome obstacle = link.closedOrBlocked();
    long half = config.confirmTimeout().toNanos() / 2;
    return obstacle == null && pendingConfirm.overdue(System.nanoTime() + half)
        ? Outcome.notSent("quarantine_full", "too many suspect messages wait before it", RETRY)
        : obstacle;
  }

  private void publish(PendingConfirm pendingConfirm) {
    try {
      ConfirmChannel current = confirmChannel;
      if (current == null || !current.isOpen()) {
        current = link.newChannel(this);
        confirmChannel = current;
      }
      inFlight = pendingConfirm;
      link.publish(
          List.of(new Link.QueuedPublish(current, pendingConfirm)),
          pendingConfirm.publication.body().length);
    } catch (IOException | RuntimeException e) {
      pendingConfirm.settle(
          Outcome.unavailable("channel_failed", "no channel could be opened: " + Replies.text(e)));
      link.fail(
          Outcome.unavailable("channel_failed", "no channel could be opened: " + Replies.text(e)));
    }
  }

  /** One at a time, and the others come first. */
  @Override
  public boolean takesNext() {
    return false;
  }

  @Override
  public void confirmed(PendingConfirm pendingConfirm, boolean delivered) {
    link.confirmed(pendingConfirm, delivered);
    if (!delivered) {
      releaseBehind();
    }
    worker.execute(this::pump);
  }

  @Override
  public void closed(
      ConfirmChannel closed, ShutdownSignalException signal, List<PendingConfirm> unconfirmed) {
    unconfirmed.forEach(pendingConfirm -> link.blame(pendingConfirm, signal));
    releaseBehind();
    worker.execute(this::pump);
  }

  /** With pipelining, what waits may be of the same key, and must not pass. */
  private void releaseBehind() {
    if (config.pipelining()) {
      Outcome behind = Replies.behind();
      for (PendingConfirm pendingConfirm = waiting.poll();
          pendingConfirm != null;
          pendingConfirm = waiting.poll()) {
        pendingConfirm.settle(behind);
      }
    }
  }

  @Override
  public void retired(ConfirmChannel retired) {
    link.retired(retired);
  }

  @Override
  public void broken(Outcome outcome) {
    link.broken(outcome);
  }

  void sweep(long nowNanos, Outcome late) {
    ConfirmChannel current = confirmChannel;
    if (current != null && current.giveUpOverdue(nowNanos, late)) {
      current.retire();
      releaseBehind();
    }
    pump();
  }

  void giveUpAll(Outcome outcome) {
    ConfirmChannel current = confirmChannel;
    if (current != null) {
      current.giveUpAll(outcome);
    }
    for (Queue<PendingConfirm> queue : List.of(waiting, condemned)) {
      for (PendingConfirm pendingConfirm = queue.poll();
          pendingConfirm != null;
          pendingConfirm = queue.poll()) {
        pendingConfirm.settle(outcome);
      }
    }
  }
}

package dev.postrider.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConfirmListener;
import com.rabbitmq.client.ReturnListener;
import com.rabbitmq.client.ShutdownSignalException;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * One channel in confirm mode and what is not yet confirmed on it. Publishing and all that the
 * broker says happen on the network thread; what is given up, on any.
 */
final class ConfirmChannel implements ConfirmListener, ReturnListener {
  private final Channel channel;
  private final Watcher watcher;
  private final boolean mandatory;
  private final ConcurrentSkipListMap<Long, PendingConfirm> unconfirmed =
      new ConcurrentSkipListMap<>();
  private final Map<String, PendingConfirm> byMessageId = new ConcurrentHashMap<>();
  private volatile boolean open = true;
  private volatile @Nullable Outcome over;

  /** Hears what happens on a channel, on any thread. */
  interface Watcher {
    /** Whether a key's next message may be published here as soon as one is confirmed. */
    boolean takesNext();

    /** The broker has answered for it, and so has the message. */
    void confirmed(PendingConfirm pendingConfirm, boolean delivered);

    /** The broker closed the channel; these were not confirmed. */
    void closed(
        ConfirmChannel confirmChannel,
        ShutdownSignalException signal,
        List<PendingConfirm> unconfirmed);

    /** No more is published here, but confirms may still come. */
    void retired(ConfirmChannel confirmChannel);

    /** Nobody knows any more what the broker has read of the connection. */
    void broken(Outcome outcome);
  }

  ConfirmChannel(Channel channel, Watcher watcher, boolean mandatory) throws IOException {
    this.channel = channel;
    this.watcher = watcher;
    this.mandatory = mandatory;
    channel.confirmSelect();
    channel.addConfirmListener(this);
    channel.addReturnListener(this);
    channel.addShutdownListener(this::shutDown);
  }

  boolean isOpen() {
    return open;
  }

  /** Whether everything published here is confirmed or given up. */
  boolean isIdle() {
    return unconfirmed.isEmpty();
  }

  /** On the network thread: from another one its frames could follow the channel's end. */
  void publish(PendingConfirm pendingConfirm) {
    if (!open) {
      pendingConfirm.settle(Replies.channelClosed("the channel is closed"));
      return;
    }
    long number = channel.getNextPublishSeqNo();
    unconfirmed.put(number, pendingConfirm);
    byMessageId.put(pendingConfirm.publication.properties().getMessageId(), pendingConfirm);
    write(number, pendingConfirm);
    Outcome end = over;
    if (end != null) {
      giveUpAll(end); // it came after the others had been given up
    }
  }

  /**
   * The client counts a message before it writes it. After one that was counted and not written the
   * broker's confirms would mean the wrong messages: nothing more goes over such a channel.
   */
  private void write(long number, PendingConfirm pendingConfirm) {
    Publication publication = pendingConfirm.publication;
    try {
      channel.basicPublish(
          publication.exchange(),
          publication.routingKey(),
          mandatory,
          publication.properties(),
          publication.body());
    } catch (AlreadyClosedException e) {
      open = false;
      remove(number);
      pendingConfirm.settle(Replies.channelClosed(Replies.text(e)));
    } catch (IOException e) {
      open = false;
      watcher.broken(Outcome.unavailable("write_failed", Replies.text(e)));
    } catch (RuntimeException e) {
      remove(number);
      retire();
      pendingConfirm.settle(Outcome.terminal("unencodable", ErrorReport.of(e)));
    }
  }

  @Override
  public void handleAck(long number, boolean multiple) {
    for (PendingConfirm pendingConfirm : take(number, multiple)) {
      boolean delivered = !pendingConfirm.isReturned();
      Message next = pendingConfirm.confirmed(open && watcher.takesNext());
      watcher.confirmed(pendingConfirm, delivered);
      if (next != null) {
        pendingConfirm.follower.publish(next, this);
      }
    }
  }

  @Override
  public void handleNack(long number, boolean multiple) {
    Outcome nack = Outcome.retryable("nack", "the broker could not take it");
    for (PendingConfirm pendingConfirm : take(number, multiple)) {
      pendingConfirm.settle(nack);
      watcher.confirmed(pendingConfirm, false);
    }
  }

  @Override
  public void handleReturn(
      int code,
      String text,
      String exchange,
      String routingKey,
      AMQP.BasicProperties properties,
      byte[] body) {
    String id = properties.getMessageId();
    PendingConfirm pendingConfirm = id == null ? null : byMessageId.get(id);
    if (pendingConfirm != null) {
      pendingConfirm.returned(code, text);
    }
  }

  private List<PendingConfirm> take(long number, boolean multiple) {
    List<PendingConfirm> taken = new ArrayList<>();
    if (multiple) {
      unconfirmed.headMap(number, true).keySet().forEach(n -> addTo(taken, n));
    } else {
      addTo(taken, number);
    }
    return taken;
  }

  private void addTo(List<PendingConfirm> taken, long number) {
    PendingConfirm pendingConfirm = remove(number);
    if (pendingConfirm != null) {
      taken.add(pendingConfirm);
    }
  }

  private @Nullable PendingConfirm remove(long number) {
    PendingConfirm pendingConfirm = unconfirmed.remove(number);
    if (pendingConfirm != null) {
      byMessageId.remove(pendingConfirm.publication.properties().getMessageId(), pendingConfirm);
    }
    return pendingConfirm;
  }

  private void shutDown(ShutdownSignalException signal) {
    open = false;
    if (!signal.isHardError() && !signal.isInitiatedByApplication()) {
      watcher.closed(this, signal, take(Long.MAX_VALUE, true));
    }
  }

  /** Publishes no more. What is not confirmed yet may still be, as long as it is not overdue. */
  void retire() {
    if (open) {
      open = false;
      watcher.retired(this);
    }
  }

  /** Gives up what has waited too long; returns whether there was any. */
  boolean giveUpOverdue(long nowNanos, Outcome outcome) {
    boolean any = false;
    for (Map.Entry<Long, PendingConfirm> entry : unconfirmed.entrySet()) {
      if (entry.getValue().overdue(nowNanos)) { // one that was suspect is older than its neighbours
        any = true;
        remove(entry.getKey());
        entry.getValue().settle(outcome);
      }
    }
    return any;
  }

  void giveUpAll(Outcome outcome) {
    open = false;
    over = outcome;
    take(Long.MAX_VALUE, true).forEach(pendingConfirm -> pendingConfirm.settle(outcome));
  }

  /** Returns at once if the channel is closed, and within the client's timeout if it is not. */
  void close() {
    open = false;
    try {
      channel.abort();
    } catch (IOException | RuntimeException e) {
      // It is closed one way or another.
    }
  }
}

package dev.postrider.rabbitmq;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One batch on its way out over one link. Used by one thread. */
final class PublishBatch {
  /** So much goes to the network thread together, to wake it less often. */
  private static final int LOT = 64;

  private static final long LOT_BYTES = 256 << 10;

  private final RabbitConfig config;
  private final PublicationFactory publications;
  private final Link link;
  private final List<ConfirmChannel> confirmChannels;
  private final Answers answers;
  private final Follower follower;
  private final long deadlineNanos;
  private int nextLane;
  private List<Link.QueuedPublish> lot = new ArrayList<>(LOT);
  private long lotBytes;

  /** With pipelining only: what is answered for keys one of whose messages was not sent. */
  private final Map<String, Outcome> stopped = new HashMap<>();

  /** With pipelining only: which way each key goes. */
  private final Map<String, Boolean> suspectKeys = new HashMap<>();

  /**
   * @param confirmChannels those that were open at the start: a key never changes its channel
   *     within a batch
   */
  PublishBatch(
      RabbitConfig config,
      PublicationFactory publications,
      Link link,
      List<ConfirmChannel> confirmChannels,
      Answers answers) {
    this.config = config;
    this.publications = publications;
    this.link = link;
    this.confirmChannels = confirmChannels;
    this.answers = answers;
    this.follower = new Follower(config, publications, link, answers);
    this.deadlineNanos = System.nanoTime() + config.confirmTimeout().toNanos();
  }

  void send(List<Message> batch, int firstLane) {
    nextLane = firstLane;
    batch.forEach(this::send);
    handOver();
  }

  private void send(Message message) {
    String key = config.pipelining() ? message.key() : null;
    Outcome before = key == null ? null : stopped.get(key);
    Outcome refused = before == null ? ship(message, key) : before;
    if (refused != null) {
      if (key != null) {
        // Without a connection none behind it would fare better.
        stopped.put(key, refused instanceof Outcome.Unavailable ? refused : Replies.behind());
      }
      answers.answer(message.id(), refused);
    }
  }

  private @Nullable Outcome ship(Message message, @Nullable String pipelined) {
    PublicationFactory.Prepared prepared = publications.prepare(message);
    Publication publication = prepared.publication();
    if (publication == null) {
      return prepared.refused();
    }
    Outcome obstacle = lot.isEmpty() ? link.obstacle() : link.closedOrBlocked();
    if (obstacle != null) {
      return obstacle;
    }
    PendingConfirm pendingConfirm =
        new PendingConfirm(message, publication, follower, deadlineNanos);
    if (suspect(pendingConfirm, pipelined)) {
      link.quarantine().add(pendingConfirm);
    } else {
      add(new Link.QueuedPublish(channel(message.key()), pendingConfirm));
    }
    return null;
  }

  /** All of a key go the same way, or one could pass the other. */
  private boolean suspect(PendingConfirm pendingConfirm, @Nullable String pipelined) {
    boolean suspect = link.suspects().has(pendingConfirm);
    return pipelined == null ? suspect : suspectKeys.computeIfAbsent(pipelined, key -> suspect);
  }

  private ConfirmChannel channel(@Nullable String key) {
    int number = key == null ? nextLane++ : key.hashCode();
    return confirmChannels.get(Math.floorMod(number, confirmChannels.size()));
  }

  private void add(Link.QueuedPublish publish) {
    lot.add(publish);
    lotBytes += publish.pendingConfirm().publication.body().length;
    if (lot.size() >= LOT || lotBytes >= LOT_BYTES) {
      handOver();
    }
  }

  private void handOver() {
    if (!lot.isEmpty()) {
      link.publish(lot, lotBytes);
      lot = new ArrayList<>(LOT);
      lotBytes = 0;
    }
  }
}

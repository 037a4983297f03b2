package dev.postrider.rabbitmq;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.util.Objects;

/**
 * Publishes the next message of a key when the one before it is confirmed. It does so on the
 * network thread that brings the confirm: to wake another thread takes longer than the broker needs
 * for a message. Thread-safe.
 */
final class Follower {
  private final RabbitConfig config;
  private final PublicationFactory publications;
  private final Link link;
  private final Answers answers;

  /**
   * @param answers of the batch that the first message of the key was in
   */
  Follower(RabbitConfig config, PublicationFactory publications, Link link, Answers answers) {
    this.config = config;
    this.publications = publications;
    this.link = link;
    this.answers = answers;
  }

  Answers answers() {
    return answers;
  }

  /** On the network thread, so it must not wait, and must not throw: that would end the channel. */
  void publish(Message message, ConfirmChannel confirmChannel) {
    try {
      PublicationFactory.Prepared prepared = publications.prepare(message);
      Publication publication = prepared.publication();
      if (publication == null) {
        answers.answer(message.id(), Objects.requireNonNull(prepared.refused()));
        return;
      }
      long deadlineNanos = System.nanoTime() + config.confirmTimeout().toNanos();
      PendingConfirm pendingConfirm = new PendingConfirm(message, publication, this, deadlineNanos);
      if (link.suspects().has(pendingConfirm)) {
        link.quarantine().add(pendingConfirm);
      } else {
        confirmChannel.publish(pendingConfirm);
      }
    } catch (RuntimeException e) {
      answers.answer(message.id(), Outcome.retryable("destination_threw", ErrorReport.of(e)));
    }
  }
}

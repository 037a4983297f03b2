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
  private final Press press;
  private final Link link;
  private final Answers answers;

  /**
   * @param answers of the batch that the first message of the key was in
   */
  Follower(RabbitConfig config, Press press, Link link, Answers answers) {
    this.config = config;
    this.press = press;
    this.link = link;
    this.answers = answers;
  }

  Answers answers() {
    return answers;
  }

  /** On the network thread, so it must not wait, and must not throw: that would end the channel. */
  void publish(Message message, Lane lane) {
    try {
      Press.Pressed pressed = press.press(message);
      Letter letter = pressed.letter();
      if (letter == null) {
        answers.answer(message.id(), Objects.requireNonNull(pressed.refused()));
        return;
      }
      long deadlineNanos = System.nanoTime() + config.confirmTimeout().toNanos();
      Parcel parcel = new Parcel(message, letter, this, deadlineNanos);
      if (link.suspects().has(parcel)) {
        link.quarantine().add(parcel);
      } else {
        lane.publish(parcel);
      }
    } catch (RuntimeException e) {
      answers.answer(message.id(), Outcome.retryable("destination_threw", ErrorReport.of(e)));
    }
  }
}

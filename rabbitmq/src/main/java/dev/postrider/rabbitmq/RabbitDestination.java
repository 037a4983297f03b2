package dev.postrider.rabbitmq;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Publishes to RabbitMQ with confirms: a message is delivered when the broker has confirmed it and
 * did not return it. Connects by itself, and again whenever the connection is lost; while there is
 * none, or the broker has blocked publishing, messages are answered as unavailable at once.
 * Thread-safe.
 */
public final class RabbitDestination implements Destination {
  private final RabbitConfig config;
  private final PublicationFactory publications;
  private final Reconnector reconnector;
  private int nextLane;

  private RabbitDestination(RabbitConfig config) {
    this.config = config;
    this.publications = new PublicationFactory(config);
    this.reconnector = new Reconnector(config);
  }

  /** Starts to connect and returns at once, also if the broker is away. */
  public static RabbitDestination open(RabbitConfig config) {
    return new RabbitDestination(config);
  }

  @Override
  public String type() {
    return "rabbitmq";
  }

  @Override
  public synchronized void deliver(List<Message> batch, Answers answers) {
    Link link = reconnector.link();
    List<ConfirmChannel> confirmChannels = link == null ? List.of() : link.openChannels();
    if (link == null || confirmChannels.isEmpty()) {
      Outcome why =
          link == null ? reconnector.absence() : Replies.channelClosed("all channels are closed");
      batch.forEach(message -> answers.answer(message.id(), why));
      return;
    }
    PublishBatch publishBatch =
        new PublishBatch(config, publications, link, confirmChannels, answers);
    publishBatch.send(batch, nextLane);
    nextLane += batch.size();
  }

  /** Exchange and routing key: the queues behind them may be full, or missing. */
  @Override
  public @Nullable String target(Message message) {
    return config.exchange().isFixed() && config.routingKey().isFixed()
        ? null
        : config.exchange().fill(message) + "/" + config.routingKey().fill(message);
  }

  /** With pipelining the order holds as long as the broker refuses none in the middle. */
  @Override
  public boolean keepsOrder() {
    return config.pipelining();
  }

  @Override
  public Duration answersWithin() {
    return config.confirmTimeout();
  }

  @Override
  public void close() {
    reconnector.close();
  }
}

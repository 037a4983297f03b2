package dev.postrider.rabbitmq;

import dev.postrider.dispatch.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Publishes to RabbitMQ with confirms: a message is delivered when the broker has confirmed it and
 * did not return it. Connects by itself, and again whenever the connection is lost; while there is
 * none, or the broker has blocked publishing, messages are answered as unavailable at once.
 * Thread-safe.
 */
public final class RabbitDestination implements Destination {
  private final RabbitConfig config;
  private final Press press;
  private final Connector connector;
  private int nextLane;

  private RabbitDestination(RabbitConfig config) {
    this.config = config;
    this.press = new Press(config);
    this.connector = new Connector(config);
  }

  /** Starts to connect and returns at once, also if the broker is away. */
  public static RabbitDestination open(RabbitConfig config) {
    return new RabbitDestination(config);
  }

  @Override
  public synchronized void deliver(List<Message> batch, Answers answers) {
    Link link = connector.link();
    List<Lane> lanes = link == null ? List.of() : link.openLanes();
    if (link == null || lanes.isEmpty()) {
      Outcome why =
          link == null
              ? connector.absence()
              : Outcome.unavailable("channel_closed", "all channels are closed");
      batch.forEach(message -> answers.answer(message.id(), why));
      return;
    }
    Shipment shipment = new Shipment(link, lanes, answers);
    batch.forEach(shipment::send);
  }

  /** With pipelining the order holds as long as the broker refuses none in the middle. */
  @Override
  public boolean keepsOrder() {
    return config.pipelining();
  }

  @Override
  public void close() {
    connector.close();
  }

  /** One batch on its way out. */
  private final class Shipment {
    private final Link link;
    private final List<Lane> lanes;
    private final Answers answers;
    private final long deadlineNanos = System.nanoTime() + config.confirmTimeout().toNanos();

    /** With pipelining only: keys one of whose messages failed, and where each key goes. */
    private final Set<String> stopped = new HashSet<>();

    private final Map<String, Boolean> suspectKeys = new HashMap<>();

    Shipment(Link link, List<Lane> lanes, Answers answers) {
      this.link = link;
      this.lanes = lanes;
      this.answers = answers;
    }

    void send(Message message) {
      String key = config.pipelining() ? message.key() : null;
      Outcome refused =
          key != null && stopped.contains(key)
              ? Outcome.unavailable("behind", "a message before it was not sent")
              : ship(message, key);
      if (refused != null) {
        if (key != null) {
          stopped.add(key);
        }
        answers.answer(message.id(), refused);
      }
    }

    private @Nullable Outcome ship(Message message, @Nullable String key) {
      Press.Pressed pressed = press.press(message);
      Letter letter = pressed.letter();
      if (letter == null) {
        return pressed.refused();
      }
      Outcome obstacle = link.obstacle();
      if (obstacle != null) {
        return obstacle;
      }
      Parcel parcel = new Parcel(message, letter, answers, deadlineNanos);
      if (suspect(parcel, key)) {
        link.quarantine().add(parcel);
      } else {
        lane(message.key()).publish(parcel);
      }
      return null;
    }

    /** All of a key go the same way, or one could pass the other. */
    private boolean suspect(Parcel parcel, @Nullable String key) {
      boolean suspect = link.suspects().has(parcel);
      if (key == null) {
        return suspect;
      }
      return suspectKeys.computeIfAbsent(key, k -> suspect);
    }

    private Lane lane(@Nullable String key) {
      int number = key == null ? nextLane++ : key.hashCode();
      return lanes.get(Math.floorMod(number, lanes.size()));
    }
  }
}

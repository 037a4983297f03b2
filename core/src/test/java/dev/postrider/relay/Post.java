package dev.postrider.relay;

import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Enqueued;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A database, its relays, what they delivered, and short ways to send and to look. Thread-safe. */
final class Post implements AutoCloseable {
  static {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
    Awaitility.setDefaultPollInterval(Duration.ofMillis(20));
  }

  final TestDatabase database;
  final List<Message> delivered = Collections.synchronizedList(new ArrayList<>());
  final Heard heard = new Heard();
  private final List<Relay> relays = new CopyOnWriteArrayList<>();

  Post() {
    this(TestDatabase.create());
  }

  Post(TestDatabase database) {
    this.database = database;
  }

  /** Quick to poll and to reap; leases so long that nothing in a test waits for their end. */
  static RelayConfig config() {
    return RelayConfig.defaults()
        .withPollInterval(Duration.ofMillis(50))
        .withReapInterval(Duration.ofMillis(100))
        .withShutdownTimeout(Duration.ofSeconds(10));
  }

  Relay.Builder builder() {
    return Relay.builder(database.dataSource()).config(config()).listener(heard);
  }

  /** A relay that sends everything of the namespace "shop" here. */
  Relay start(Destination destination) {
    return start(destination, DestinationOptions.DEFAULT, RouteOptions.DEFAULT);
  }

  Relay start(Destination destination, DestinationOptions limits, RouteOptions how) {
    return start(
        builder().destination("here", destination, limits).route("shop", "*", "here", how));
  }

  Relay start(Relay.Builder builder) {
    Relay relay = builder.build();
    relays.add(relay);
    return relay.start();
  }

  /** Records every message and takes it. */
  Destination taking() {
    return HandlerDestination.inline(this::take);
  }

  Outcome take(Message message) {
    delivered.add(message);
    return Outcome.delivered();
  }

  UUID send(String topic, @Nullable String key) {
    return send(topic, key, 1).get(0);
  }

  /** Sends so many messages in one transaction. */
  List<UUID> send(String topic, @Nullable String key, int count) {
    List<NewMessage> messages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      NewMessage.Builder message = NewMessage.to("shop", topic).json("{\"n\":" + i + "}");
      messages.add((key == null ? message : message.key(key)).build());
    }
    return send(messages);
  }

  List<UUID> send(List<NewMessage> messages) {
    try (Connection connection = database.transaction()) {
      List<Enqueued> enqueued = new Outbox().enqueue(connection, messages);
      connection.commit();
      return enqueued.stream().map(Enqueued::id).toList();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  List<UUID> deliveredIds() {
    synchronized (delivered) {
      return delivered.stream().map(Message::id).toList();
    }
  }

  List<Long> sequencesOf(String key) {
    synchronized (delivered) {
      return delivered.stream().filter(m -> key.equals(m.key())).map(Message::sequence).toList();
    }
  }

  /** Waits until nothing is left to do. */
  void untilEmpty() {
    await().until(() -> database.count("select count(*) from postrider.queue") == 0);
  }

  String state(UUID id) {
    return database.value("select state from postrider.message_state where id = '" + id + "'");
  }

  /** The states of a message's attempts, the oldest first. */
  List<String> attempts(UUID id) {
    return database.column(
        "select state from postrider.attempt_history where message_id = '"
            + id
            + "' order by finished_at nulls last");
  }

  /** Ends all waiting for a retry. */
  /** Passes over rows that a relay is at: waiting for several of them could be a deadlock. */
  void makeDue() {
    database.execute(
        """
        update postrider.queue set due_at = now() where ctid = any (array(
          select ctid from postrider.queue where lane < 0 and due_at < 'infinity'
             for update skip locked))
        """);
  }

  /** Takes all leases away from whoever holds them, as if they had run out. */
  void expireLeases() {
    database.execute("update postrider.lease set until = '-infinity'; select postrider.reap()");
  }

  @Override
  public void close() {
    relays.forEach(Relay::close);
  }
}

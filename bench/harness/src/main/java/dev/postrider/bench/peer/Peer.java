package dev.postrider.bench.peer;

import java.util.function.Consumer;

/**
 * An outbox, or a limit, under measurement. Implementations have a public constructor without
 * parameters and hold no state between calls; the harness calls them from one thread.
 */
public interface Peer {

  /** What a session is for. A producer must not handle, a handler need not produce. */
  enum Role {
    PRODUCER,
    HANDLER,
    BOTH;

    public boolean produces() {
      return this != HANDLER;
    }

    public boolean handles() {
      return this != PRODUCER;
    }
  }

  /** A running peer, with its connections open. {@link #send} is called from several threads. */
  interface Session extends AutoCloseable {

    /** One whole transaction: the business insert, the peer's enqueue, the commit. */
    void send(Order order) throws Exception;

    /**
     * Begins to handle what is there and what comes. A drain is timed from its return: what it does
     * before is getting ready.
     */
    void start() throws Exception;

    /** Returns when a message that comes now is handled as fast as it will ever be. */
    default void awaitListening() {}

    @Override
    void close() throws Exception;
  }

  /** Creates its tables, empty, whatever was there before. */
  void install(Site site) throws Exception;

  /** SQL for a boolean: whether nothing is left to handle. */
  String idle();

  /**
   * Opens connections and all that takes time, but handles nothing yet.
   *
   * @param handler gets every payload, from any thread
   */
  Session open(Site site, Role role, Consumer<String> handler) throws Exception;

  /** Leaves the messages 0 to count - 1 behind, as so many enqueues would have. */
  default void load(Site site, int count) throws Exception {
    try (Session session = open(site.relaxed(), Role.PRODUCER, payload -> {});
        Senders senders = new Senders(session, Senders.LOADERS)) {
      senders.send(count);
    }
  }
}

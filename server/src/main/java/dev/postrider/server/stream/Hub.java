package dev.postrider.server.stream;

import dev.postrider.internal.stream.StreamEvent;
import dev.postrider.internal.stream.StreamGoneException;
import dev.postrider.internal.stream.StreamLog;
import dev.postrider.internal.stream.StreamPage;
import dev.postrider.internal.stream.StreamTail;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.server.api.Threads;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands what the tail reads to all clients, on the tail's thread: what comes next is read when
 * every client has been offered the last, so bursts make nobody fall behind who takes what it is
 * given. Thread-safe.
 */
final class Hub implements StreamTail.Reader, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Hub.class);
  private static final long TICKS_PER_LIMIT = 4;
  private static final long TICK_MAX_MS = 1_000;
  private static final Duration GOODBYE = Duration.ofSeconds(1);

  private final StreamConfig config;
  private final Window window;
  private final CatchUp catchUp;
  private final Revocations revocations;
  private final Set<Client> clients = ConcurrentHashMap.newKeySet();
  private final Places places;
  private final ScheduledThreadPoolExecutor clock =
      new ScheduledThreadPoolExecutor(1, Threads.named("postrider-stream-clock"));
  private volatile boolean closed;

  Hub(StreamConfig config, StreamLog streamLog, Revocations revocations) {
    this.config = config;
    this.window = new Window(config.bufferEvents(), config.bufferBytes());
    this.catchUp = new CatchUp(streamLog, config.catchUps());
    this.revocations = revocations;
    this.places = new Places(config.places());
  }

  void start() {
    long limit = Math.min(config.heartbeat().toMillis(), config.stall().toMillis());
    long every = Math.max(1, Math.min(TICK_MAX_MS, limit / TICKS_PER_LIMIT));
    ScheduledFuture<?> unused =
        clock.scheduleWithFixedDelay(this::tick, every, every, TimeUnit.MILLISECONDS);
    revocations.start(clients);
  }

  Window window() {
    return window;
  }

  CatchUp catchUp() {
    return catchUp;
  }

  int clients() {
    return places.taken();
  }

  /** Where clients take a place before they join, and give it back if they do not. */
  Places places() {
    return places;
  }

  /** On the place that was reserved for it. */
  Client join(Subscription wanted, ClientConnection clientConnection) {
    Client client = new Client(wanted, clientConnection, this);
    clients.add(client);
    if (closed) {
      client.end(Client.SHUTDOWN, null);
    }
    return client;
  }

  void left(Client client) {
    if (clients.remove(client)) {
      places.giveBack(client.wanted().token(), client.wanted().address());
    }
  }

  @Override
  public void startsAt(long position) {
    window.startAt(position);
  }

  @Override
  public void read(StreamPage page) {
    if (clients.isEmpty()) {
      // Whoever comes meanwhile is behind, and reads by itself.
      window.startAt(page.position());
      return;
    }
    int events = 0;
    long bytes = 0;
    for (StreamEvent event : page.events()) {
      if (event.position() <= window.last()) {
        continue; // the page is read again after something went wrong in the middle of it
      }
      Entry entry = new Entry(event);
      window.add(entry);
      bytes += entry.size();
      // A page may be more than the window holds.
      if (2 * ++events >= config.bufferEvents() || 2 * bytes >= config.bufferBytes()) {
        clients.forEach(Client::pump);
        events = 0;
        bytes = 0;
      }
    }
    clients.forEach(Client::pump);
  }

  @Override
  public void broken(StreamGoneException reason) {
    endAll("reset");
  }

  private void tick() {
    for (Client client : clients) {
      try {
        client.tick(config.heartbeat(), config.stall());
      } catch (RuntimeException e) {
        // One client must not stop the clock for all.
        log.warn("{}", LogLine.of("stream_tick_failed").put("error", Silenced.text(e)));
      }
    }
  }

  private void endAll(String reason) {
    for (Client client : clients) {
      client.end(reason, null);
      client.pump();
    }
  }

  @Override
  public void close() {
    closed = true;
    endAll(Client.SHUTDOWN);
    places.awaitEmpty(GOODBYE);
    clients.forEach(Client::cut);
    clock.shutdownNow();
    revocations.close();
    catchUp.close();
  }
}

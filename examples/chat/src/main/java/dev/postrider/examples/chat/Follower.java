package dev.postrider.examples.chat;

import dev.postrider.server.api.JsonText;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Follows all that a token may see, from the oldest event on. However often the connection ends, it
 * resumes after the last position it saw, on any node, and hands every event on once. Thread-safe.
 */
final class Follower implements AutoCloseable {
  private static final int SEEN_MAX = 10_000;
  private static final long PAUSE_MS = 250;

  /** A node that lives says something every 15 s. */
  private static final long SILENCE_SECONDS = 40;

  private final Supplier<ChatClient> node;
  private final Consumer<JsonNode> onEvent;
  private final Set<String> seen = Collections.newSetFromMap(new Newest());
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ScheduledExecutorService clock = Executors.newScheduledThreadPool(1);
  private final Thread thread = new Thread(this::run, "chat-follower");
  private volatile @Nullable InputStream connection;
  private volatile String after = "earliest";
  private final AtomicInteger connections = new AtomicInteger();

  /**
   * @param node asked before each connection
   */
  private Follower(Supplier<ChatClient> node, Consumer<JsonNode> onEvent) {
    this.node = node;
    this.onEvent = onEvent;
  }

  static Follower start(Supplier<ChatClient> node, Consumer<JsonNode> onEvent) {
    Follower follower = new Follower(node, onEvent);
    follower.thread.start();
    return follower;
  }

  /** How often it got through to a node. */
  int connections() {
    return connections.get();
  }

  private void run() {
    try {
      do {
        try {
          follow();
        } catch (IOException e) {
          // The last whole line counts; whatever it was, it goes on from there.
        }
      } while (!closed.await(PAUSE_MS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void follow() throws IOException, InterruptedException {
    HttpResponse<InputStream> response =
        ChatClient.HTTP.send(
            node.get().request("/v1/streams/events?after=" + after).build(),
            BodyHandlers.ofInputStream());
    try (InputStream in = response.body()) {
      connection = in;
      if (response.statusCode() == 200 && closed.getCount() > 0) {
        connections.incrementAndGet();
        read(new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)));
      } else if (response.statusCode() == 410) {
        after = "earliest"; // what comes next was purged; a page would load its history again
      }
    }
  }

  private void read(BufferedReader in) throws IOException {
    while (true) {
      Future<?> silence = clock.schedule(this::hangUp, SILENCE_SECONDS, TimeUnit.SECONDS);
      @Nullable String line = in.readLine();
      silence.cancel(false);
      if (line == null) {
        return;
      }
      JsonNode record = JsonText.read(line.getBytes(StandardCharsets.UTF_8));
      if (record.has("event_id") && seen.add(record.get("event_id").asString())) {
        onEvent.accept(record);
      }
      after = record.get("position").asString(); // also of heartbeats and ends
    }
  }

  private void hangUp() {
    try (InputStream open = connection) {
      // closed, which its reader notices
    } catch (IOException e) {
      // as good as closed
    }
  }

  @Override
  public void close() {
    closed.countDown();
    hangUp();
    thread.interrupt();
    clock.shutdownNow();
  }

  /** Forgets the oldest: an event comes again soon after the first time, if at all. */
  private static final class Newest extends LinkedHashMap<String, Boolean> {
    private static final long serialVersionUID = 1L;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
      return size() > SEEN_MAX;
    }
  }
}

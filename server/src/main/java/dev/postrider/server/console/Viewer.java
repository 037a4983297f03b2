package dev.postrider.server.console;

import dev.postrider.internal.text.LogLine;
import dev.postrider.server.stream.ClientConnection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One browser that watches. Its stream ends after a minute, and the browser opens the next one: so
 * a token that was revoked, or has expired, sees nothing new after a minute. Thread-safe; nothing
 * here waits.
 */
final class Viewer implements ClientConnection.Owner {
  private static final Logger log = LoggerFactory.getLogger(Viewer.class);
  private static final Duration LIFE = Duration.ofSeconds(60);
  private static final Duration SILENCE_MAX = Duration.ofSeconds(10);

  /** A browser that has not taken the end of its stream by then is cut off. */
  private static final Duration LIFE_MAX = LIFE.plusSeconds(10);

  private static final int WAITING_MAX = 64;
  private static final byte[] HEARTBEAT = ":\n\n".getBytes(StandardCharsets.US_ASCII);

  private final ClientConnection connection;
  private final long after;
  private final Consumer<Viewer> left;
  private final Deque<byte[]> waiting = new ArrayDeque<>();
  private final LongSupplier nanoClock;
  private final long bornNanos;
  private long writtenNanos;
  private volatile boolean caughtUp;
  private boolean opened;
  private boolean unflushed;
  private boolean ending;
  private boolean closed;

  /**
   * @param after the time of the last point that it has, in milliseconds
   */
  Viewer(ClientConnection connection, long after, Consumer<Viewer> left, LongSupplier nanoClock) {
    this.after = after;
    this.connection = connection;
    this.left = left;
    this.nanoClock = nanoClock;
    this.bornNanos = nanoClock.getAsLong();
    this.writtenNanos = bornNanos;
  }

  long after() {
    return after;
  }

  /** Whether it was given the points from before it came. */
  boolean caughtUp() {
    return caughtUp;
  }

  void catchUp() {
    caughtUp = true;
  }

  /** Writes it now or as soon as the browser takes it; one that takes nothing is cut off. */
  synchronized void offer(byte[] event) {
    if (closed || ending) {
      return;
    }
    if (waiting.size() >= WAITING_MAX) {
      cut();
      return;
    }
    waiting.add(event);
    pump();
  }

  /** Called now and then: ends streams that are old enough, and breaks silences. */
  synchronized void tick() {
    long now = nanoClock.getAsLong();
    if (now - bornNanos > LIFE_MAX.toNanos()) {
      cut();
    } else if (now - bornNanos > LIFE.toNanos()) {
      end();
    } else if (now - writtenNanos > SILENCE_MAX.toNanos() && waiting.isEmpty()) {
      offer(HEARTBEAT);
    }
  }

  synchronized void end() {
    ending = true;
    pump();
  }

  @Override
  public synchronized void ready() {
    opened = true;
    pump();
  }

  @Override
  public synchronized void lost() {
    close();
  }

  private void pump() {
    if (!opened || closed) {
      return;
    }
    try {
      while (!closed && connection.ready()) {
        byte @Nullable [] next = waiting.poll();
        if (next != null) {
          connection.write(next);
          writtenNanos = nanoClock.getAsLong();
          unflushed = true;
        } else if (unflushed) {
          unflushed = false;
          connection.flush();
        } else {
          if (ending) {
            close();
          }
          return;
        }
      }
    } catch (IOException | RuntimeException e) {
      // What a lost connection throws depends on the moment.
      log.debug("{}", LogLine.of("console_viewer_lost").put("error", e.getMessage()));
      close();
    }
  }

  private void cut() {
    connection.cut();
    close();
  }

  private void close() {
    if (!closed) {
      closed = true;
      left.accept(this);
      connection.finish();
    }
  }
}

package dev.postrider.server.stream;

import dev.postrider.internal.stream.StreamGoneException;
import dev.postrider.internal.stream.StreamLog;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.server.api.Threads;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads pages for clients that are behind the window, first come, first served, and no more at a
 * time than may be in memory together. The clients of one token have half of the pages at most:
 * they may take a page as slowly as they like. Thread-safe.
 */
final class CatchUp implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(CatchUp.class);
  private static final int PAGE = 200;
  private static final int THREADS = 4;
  private static final long RETRY_MS = 500;

  private final StreamLog streamLog;
  private final ScheduledThreadPoolExecutor readers;
  private final Queue<Client> waiting = new ArrayDeque<>();
  private final Map<Long, Integer> byToken = new HashMap<>();
  private final int mostPerToken;
  private int free;

  CatchUp(StreamLog streamLog, int pages) {
    this.streamLog = streamLog;
    this.free = pages;
    this.mostPerToken = (pages + 1) / 2;
    this.readers = new ScheduledThreadPoolExecutor(THREADS, Threads.named("postrider-stream-read"));
    readers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /** The client's next page; it comes when there is room. */
  void ask(Client client) {
    synchronized (this) {
      waiting.add(client);
    }
    startMore();
  }

  /** The client's page is no longer in memory. */
  void dropped(Client client) {
    synchronized (this) {
      free++;
      byToken.computeIfPresent(token(client), (token, pages) -> pages == 1 ? null : pages - 1);
    }
    startMore();
  }

  private static Long token(Client client) {
    return client.wanted().token().id();
  }

  private synchronized void startMore() {
    try {
      for (Iterator<Client> next = waiting.iterator(); free > 0 && next.hasNext(); ) {
        Client client = next.next();
        if (byToken.getOrDefault(token(client), 0) < mostPerToken) {
          next.remove();
          readers.execute(() -> read(client));
          free--;
          byToken.merge(token(client), 1, Integer::sum);
        }
      }
    } catch (RejectedExecutionException e) {
      waiting.clear();
    }
  }

  private void read(Client client) {
    try {
      client.take(streamLog.after(client.position(), client.wanted().filter(), PAGE));
    } catch (StreamGoneException e) {
      client.end("gone", e.oldest());
      client.pump();
      dropped(client);
    } catch (SQLException | RuntimeException e) {
      log.warn("{}", LogLine.of("stream_read_failed").put("error", Silenced.text(e)));
      dropped(client);
      later(client);
    }
  }

  private void later(Client client) {
    try {
      ScheduledFuture<?> unused =
          readers.schedule(() -> ask(client), RETRY_MS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("closed while a client was behind");
    }
  }

  @Override
  public void close() {
    readers.shutdownNow();
  }
}

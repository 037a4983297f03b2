package dev.postrider.server.api;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Lets each caller have so many of its requests worked on at a time. Its others wait in their order
 * and hold no thread, so that something is left for other callers. Thread-safe.
 */
public final class RequestTurns {
  /** Beyond that an answer would come too late anyway. */
  private static final int WAITING_MAX = 512;

  private final int most;
  private final Executor threads;
  private final Map<String, Line> lines = new HashMap<>();

  /** Work on a request. */
  @FunctionalInterface
  interface Work {
    void run() throws Exception;
  }

  /** The requests of a caller. */
  private static final class Line {
    private int taken;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
  }

  /**
   * @param places for requests that are worked on at a time; one caller has three quarters of them
   * @param threads for requests that had to wait
   */
  public RequestTurns(int places, Executor threads) {
    this.most = Math.max(1, places * 3 / 4);
    this.threads = threads;
  }

  /** Takes a turn, if the caller may have another one now. */
  synchronized boolean take(String caller) {
    Line line = lines.computeIfAbsent(caller, name -> new Line());
    if (line.taken == most) {
      return false;
    }
    line.taken++;
    return true;
  }

  /** Ends a turn that was taken. The next one that waits has it. */
  void giveBack(String caller) {
    @Nullable Runnable next = next(caller);
    if (next != null) {
      next.run();
    }
  }

  private synchronized @Nullable Runnable next(String caller) {
    Line line = lines.getOrDefault(caller, new Line());
    @Nullable Runnable next = line.waiting.poll();
    if (next == null && --line.taken == 0) {
      lines.remove(caller);
    }
    return next;
  }

  /** Does it on another thread as soon as the caller may have a turn. */
  CompletableFuture<?> later(String caller, Work work) {
    CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
    Runnable start = () -> start(caller, work, done);
    try {
      if (takeOrWait(caller, start)) {
        start.run();
      }
    } catch (RejectedExecutionException e) {
      done.completeExceptionally(e);
    }
    return done;
  }

  private synchronized boolean takeOrWait(String caller, Runnable start) {
    if (take(caller)) {
      return true;
    }
    Queue<Runnable> waiting = lines.getOrDefault(caller, new Line()).waiting;
    if (waiting.size() >= WAITING_MAX) {
      throw new RejectedExecutionException("too many requests of one caller wait");
    }
    waiting.add(start);
    return false;
  }

  private void start(String caller, Work work, CompletableFuture<@Nullable Void> done) {
    try {
      threads.execute(() -> run(caller, work, done));
    } catch (RejectedExecutionException e) {
      done.completeExceptionally(e);
      giveBack(caller);
    }
  }

  private void run(String caller, Work work, CompletableFuture<@Nullable Void> done) {
    try {
      work.run();
      done.complete(null);
    } catch (Throwable e) {
      done.completeExceptionally(e);
    } finally {
      giveBack(caller);
    }
  }
}

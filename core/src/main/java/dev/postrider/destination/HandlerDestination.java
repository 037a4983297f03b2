package dev.postrider.destination;

import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import dev.postrider.message.UnreadablePayloadException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Delivers to your own code in this process, on a fixed number of threads; messages of one key
 * never at the same time. With no threads of its own it calls the handler on the dispatch thread,
 * which is fastest for handlers that never wait. Thread-safe.
 */
public final class HandlerDestination implements Destination {
  private final MessageHandler handler;
  private final ExecutorService executor;
  private final int threads;
  private final Semaphore free;

  private HandlerDestination(MessageHandler handler, int threads) {
    this.handler = handler;
    this.threads = threads;
    this.free = new Semaphore(threads);
    AtomicInteger number = new AtomicInteger();
    this.executor =
        Executors.newFixedThreadPool(
            Math.max(threads, 1),
            task -> {
              Thread thread = new Thread(task, "postrider-handler-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Calls the handler on this many threads. */
  public static HandlerDestination of(int threads, MessageHandler handler) {
    if (threads < 1 || threads > 10_000) {
      throw new PostriderException("threads must lie in 1..10000, got " + threads);
    }
    return new HandlerDestination(handler, threads);
  }

  /** Calls the handler on the dispatch thread, one message after the other. */
  public static HandlerDestination inline(MessageHandler handler) {
    return new HandlerDestination(handler, 0);
  }

  @Override
  public void deliver(List<Message> batch, Answers answers) {
    for (Message message : batch) {
      if (threads == 0) {
        answers.answer(message.id(), handle(message));
      } else {
        submit(message, answers);
      }
    }
  }

  /** One at a time without threads, so that lease and timeout count for each message by itself. */
  @Override
  public int concurrency() {
    return Math.max(threads, 1);
  }

  /**
   * A thread that hangs in the handler keeps its place: a message that waited behind it would be
   * handled long after the relay gave it up.
   */
  private void submit(Message message, Answers answers) {
    if (!free.tryAcquire()) {
      answers.answer(
          message.id(),
          Outcome.unavailable("handler_busy", "all " + threads + " threads hang in the handler"));
      return;
    }
    try {
      executor.execute(
          () -> {
            Outcome outcome = handle(message);
            free.release();
            answers.answer(message.id(), outcome);
          });
    } catch (RejectedExecutionException e) {
      answers.answer(message.id(), Outcome.unavailable("closed", "the handler is closed"));
    }
  }

  private Outcome handle(Message message) {
    try {
      return handler.handle(message);
    } catch (UnreadablePayloadException e) {
      // What a JSON library says quotes the payload.
      return Outcome.terminal(
          "payload_unreadable",
          ErrorReport.of("the payload could not be read", String.valueOf(e.getMessage())));
    } catch (Throwable e) {
      return Outcome.retryable("handler_threw", ErrorReport.of(e));
    }
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}

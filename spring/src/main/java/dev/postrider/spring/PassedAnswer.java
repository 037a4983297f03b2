package dev.postrider.spring;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The body of an answer that is passed on. Unlike a stream, it does not wait for ever for a server
 * that has gone silent. One thread passes it on.
 */
final class PassedAnswer implements Flow.Subscriber<List<ByteBuffer>> {
  /** What has come: a part, or how it ended. */
  private sealed interface Event {
    record Part(List<ByteBuffer> bytes) implements Event {}

    record End() implements Event {}

    record Broken(Throwable reason) implements Event {}
  }

  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private volatile Flow.@Nullable Subscription subscription;

  @Override
  public void onSubscribe(Flow.Subscription given) {
    subscription = given;
    given.request(1);
  }

  @Override
  public void onNext(List<ByteBuffer> part) {
    events.add(new Event.Part(part));
  }

  @Override
  public void onError(Throwable error) {
    events.add(new Event.Broken(error));
  }

  @Override
  public void onComplete() {
    events.add(new Event.End());
  }

  /**
   * Writes it all, and flushes what has arrived.
   *
   * @param silence without a byte after which it is given up
   */
  void writeTo(OutputStream out, Duration silence) throws IOException {
    try {
      for (Event event = next(silence); event instanceof Event.Part part; event = next(silence)) {
        for (ByteBuffer bytes : part.bytes) {
          byte[] copy = new byte[bytes.remaining()];
          bytes.get(copy);
          out.write(copy);
        }
        out.flush();
        askForMore();
      }
    } finally {
      cancel();
    }
  }

  private void askForMore() {
    Flow.@Nullable Subscription given = subscription;
    if (given != null) {
      given.request(1);
    }
  }

  /** Closes the connection, unless the answer has ended. */
  private void cancel() {
    Flow.@Nullable Subscription given = subscription;
    if (given != null) {
      given.cancel();
    }
  }

  private Event next(Duration silence) throws IOException {
    try {
      @Nullable Event event = events.poll(silence.toMillis(), TimeUnit.MILLISECONDS);
      if (event == null) {
        throw new IOException("the server of postrider.console.url has gone silent");
      } else if (event instanceof Event.Broken broken) {
        throw new IOException("the server's answer has broken off", broken.reason);
      }
      return event;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
  }
}

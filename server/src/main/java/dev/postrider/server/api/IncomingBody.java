package dev.postrider.server.api;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.http.HttpException;

/**
 * A body on its way in. It uses memory for what has come, not for what was announced. Thread-safe.
 */
final class IncomingBody implements ReadListener {
  /** In which even a slow body has to begin. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final int FIRST_BYTES = 1024;

  private final ServletInputStream in;
  private final Share share;
  private final int announced;
  private final long began;
  private final long asked = System.nanoTime();
  private byte[] bytes = {};
  private int size;
  private final CompletableFuture<byte[]> whole = new CompletableFuture<>();

  /**
   * How fast a body has to come.
   *
   * @param time from the request's first byte to its last
   */
  record Pace(Duration time, int bytesPerSecond) {}

  /**
   * What one body may use.
   *
   * @param most bytes of it
   */
  record Share(BodyMemory memory, String caller, int most) {}

  IncomingBody(HttpServletRequest request, Share share) throws IOException {
    this(
        request.getInputStream(),
        request.getContentLength(),
        ServletContextRequest.getServletContextRequest(request).getBeginNanoTime(),
        share);
  }

  /**
   * @param announced bytes, below 0 if that is not known
   * @param began when the request did, in nanoseconds
   */
  IncomingBody(ServletInputStream in, int announced, long began, Share share) {
    this.in = in;
    this.share = share;
    this.announced = announced;
    this.began = began;
  }

  /** Completes when all of it is there, or none will be. */
  CompletableFuture<byte[]> whole() {
    return whole;
  }

  void start() {
    in.setReadListener(this);
  }

  /** Gives its memory back. Once, after {@link #whole} has completed. */
  synchronized void release() {
    share.memory.release(share.caller, bytes.length);
    bytes = new byte[0];
  }

  @Override
  public synchronized void onDataAvailable() throws IOException {
    while (!whole.isDone() && in.isReady()) {
      makeRoom();
      int n = in.read(bytes, size, bytes.length - size);
      if (n < 0) {
        return;
      }
      size += n;
      if (size > share.most) {
        throw Bodies.tooLarge(share.most);
      }
    }
  }

  /** One byte more than a body has: the stream tells of its end only to those who read on. */
  private void makeRoom() {
    if (size < bytes.length) {
      return;
    }
    int end = announced < 0 ? share.most : Math.min(announced, share.most);
    int wanted = (int) Math.min(Math.max(FIRST_BYTES, 2L * size), end + 1L);
    share.memory.hold(share.caller, wanted - size);
    bytes = Arrays.copyOf(bytes, wanted);
  }

  @Override
  public void onAllDataRead() {
    whole.complete(trimmed());
  }

  private synchronized byte[] trimmed() {
    if (whole.isDone()) {
      return bytes; // it was given up, and its memory may be back already
    }
    share.memory.release(share.caller, bytes.length - size);
    bytes = Arrays.copyOf(bytes, size);
    return bytes;
  }

  /** Also called with what was thrown above. */
  @Override
  public void onError(Throwable error) {
    if (error instanceof ProblemException problem) {
      fail(problem);
      return;
    }
    boolean malformed = false;
    for (Throwable e = error; e != null; e = e.getCause()) {
      malformed |= e instanceof HttpException;
    }
    fail(
        Problem.of(
                400,
                "broken-body",
                "Broken body",
                malformed
                    ? "the body is not as HTTP has it: its chunks are malformed"
                    : "the connection ended before the body did")
            .toException());
  }

  void fail(ProblemException problem) {
    whole.completeExceptionally(problem);
  }

  /** Whether it comes too slowly. The time that we took before asking for it does not count. */
  synchronized boolean late(Pace pace, long now) {
    long time = pace.time.toNanos();
    long grace = Math.min(GRACE_NANOS, time);
    boolean over = now - began > time && now - asked > grace;
    double least = pace.bytesPerSecond * (now - asked - grace) / 1e9;
    return over || size < least;
  }
}

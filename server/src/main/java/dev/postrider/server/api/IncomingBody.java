package dev.postrider.server.api;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.http.HttpException;

/** A body on its way in. Thread-safe. */
final class IncomingBody implements ReadListener {
  /** In which even a slow body has to begin. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final ServletInputStream in;
  private final Bodies bodies;
  private final long began;
  private final long asked = System.nanoTime();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final byte[] chunk = new byte[8192];
  private final CompletableFuture<byte[]> whole = new CompletableFuture<>();

  /**
   * How fast a body has to come.
   *
   * @param time from the request's first byte to its last
   */
  record Pace(Duration time, int bytesPerSecond) {}

  IncomingBody(HttpServletRequest request, Bodies bodies) throws IOException {
    this.in = request.getInputStream();
    this.bodies = bodies;
    this.began = ServletContextRequest.getServletContextRequest(request).getBeginNanoTime();
  }

  /** Completes when all of it is there, or none will be. */
  CompletableFuture<byte[]> whole() {
    return whole;
  }

  void start() {
    in.setReadListener(this);
  }

  synchronized int size() {
    return bytes.size();
  }

  @Override
  public synchronized void onDataAvailable() throws IOException {
    while (!whole.isDone() && in.isReady()) {
      int n = in.read(chunk);
      if (n < 0) {
        return;
      }
      bodies.hold(bytes.size(), n);
      bytes.write(chunk, 0, n);
    }
  }

  @Override
  public void onAllDataRead() {
    byte[] all;
    synchronized (this) {
      all = bytes.toByteArray();
    }
    whole.complete(all);
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
  boolean late(Pace pace, long now) {
    long time = pace.time.toNanos();
    long grace = Math.min(GRACE_NANOS, time);
    boolean over = now - began > time && now - asked > grace;
    double least = pace.bytesPerSecond * (now - asked - grace) / 1e9;
    return over || size() < least;
  }
}

package dev.postrider.server.api;

import io.javalin.http.Context;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Takes bodies of requests: JSON, not too long, not too slow, not too many. No thread waits for
 * them. Thread-safe.
 */
public final class Bodies implements AutoCloseable {
  private static final long LOOK_MS = 100;

  private final int most;
  private final IncomingBody.Pace pace;
  private final BodyMemory raw;
  private final BodyMemory parsed;
  private final RequestTurns turns;
  private final Set<IncomingBody> coming = ConcurrentHashMap.newKeySet();
  private final ScheduledThreadPoolExecutor clock =
      new ScheduledThreadPoolExecutor(1, Threads.named("postrider-body-clock"));

  /** Goes on with a body. */
  @FunctionalInterface
  interface Taker {
    void take(byte[] body) throws Exception;
  }

  /**
   * Bytes that bodies may use.
   *
   * @param raw for all bodies together, as they come
   * @param parsed for all that are worked on together, by estimate
   */
  public record Memory(long raw, long parsed) {}

  /**
   * @param most bytes of one body, where an endpoint takes large ones
   * @param time from a request's first byte to its last
   * @param bytesPerSecond at the least
   * @param turns in which it goes on when a body is there
   */
  public Bodies(long most, Duration time, int bytesPerSecond, Memory memory, RequestTurns turns) {
    this.most = Math.toIntExact(most);
    this.pace = new IncomingBody.Pace(time, bytesPerSecond);
    this.raw = new BodyMemory(memory.raw);
    this.parsed = new BodyMemory(memory.parsed);
    this.turns = turns;
    ScheduledFuture<?> unused =
        clock.scheduleWithFixedDelay(this::look, LOOK_MS, LOOK_MS, TimeUnit.MILLISECONDS);
  }

  /** A body that nobody asked for is not read. */
  static void refuse(Context context) {
    if (hasBody(context.req())) {
      closeAfter(context);
      throw Problem.of(
              400,
              "body-not-expected",
              "Body not expected",
              "this takes no body; send the request without one")
          .toException();
    }
  }

  /** Goes on with the body when all of it is there; the answer follows. */
  void take(Context context, Caller caller, BodySize size, Taker taker) {
    HttpServletRequest request = context.req();
    int bytes = size.within(most);
    if (request.getContentLengthLong() > bytes) {
      closeAfter(context);
      throw tooLarge(bytes);
    }
    if (hasBody(request)) {
      checkType(context);
    }
    IncomingBody.Share share = new IncomingBody.Share(raw, caller.counted(), bytes);
    context.future(() -> read(request, share, taker));
  }

  private static boolean hasBody(HttpServletRequest request) {
    return request.getContentLengthLong() > 0 || request.getHeader("Transfer-Encoding") != null;
  }

  /** What is left of a body that was not read cannot be told from the next request. */
  private static void closeAfter(Context context) {
    context.header("Connection", "close");
  }

  private static void checkType(Context context) {
    @Nullable String type = context.req().getHeader("Content-Type");
    String plain = type == null ? "" : type.split(";", 2)[0].trim().toLowerCase(Locale.ROOT);
    if (!plain.equals("application/json")) {
      closeAfter(context);
      throw Problem.of(
              415,
              "unsupported-media-type",
              "Unsupported media type",
              "a body must be application/json, got " + (type == null ? "no type" : type))
          .toException();
    }
  }

  private CompletableFuture<?> read(
      HttpServletRequest request, IncomingBody.Share share, Taker taker) {
    try {
      IncomingBody incoming = new IncomingBody(request, share);
      coming.add(incoming);
      request.setAttribute(Call.BODY, incoming.whole());
      CompletableFuture<?> answered =
          incoming
              .whole()
              .whenComplete((body, failure) -> coming.remove(incoming))
              .thenCompose(
                  body -> turns.later(share.caller(), () -> work(share.caller(), body, taker)))
              .whenComplete((done, failure) -> incoming.release());
      incoming.start();
      return answered;
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** A short text can mean a large tree, so memory for the tree is taken before it is read. */
  private void work(String caller, byte[] body, Taker taker) throws Exception {
    // Whoever comes alone is let in, however much it is.
    long cost = Math.min(JsonCost.of(body), parsed.mostOfCaller());
    parsed.hold(caller, cost);
    try {
      taker.take(body);
    } finally {
      parsed.release(caller, cost);
    }
  }

  private void look() {
    long now = System.nanoTime();
    for (IncomingBody incoming : coming) {
      if (incoming.late(pace, now)) {
        incoming.fail(tooSlow());
      }
    }
  }

  static ProblemException tooLarge(int most) {
    return Problem.of(
            413,
            "too-large",
            "Request too large",
            "a body may have " + most + " bytes at most here")
        .toException();
  }

  private ProblemException tooSlow() {
    return Problem.of(
            408,
            "too-slow",
            "Request too slow",
            "a request must be here within "
                + pace.time().toMillis() / 1000.0
                + " seconds, and a body come with "
                + pace.bytesPerSecond()
                + " bytes per second at least")
        .toException();
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}

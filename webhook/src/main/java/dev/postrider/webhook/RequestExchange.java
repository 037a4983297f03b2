package dev.postrider.webhook;

import dev.postrider.internal.text.Silenced;
import dev.postrider.message.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.protocol.HttpClientContext;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.EndpointDetails;
import org.apache.hc.core5.http.HttpEntity;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends one message and reads what little of the answer matters. The status decides; the body is
 * read for the error's text and to keep the connection, never beyond its limits of size and time.
 * Used by one thread, except {@link #cancel}.
 */
final class RequestExchange {
  private static final Logger log = LoggerFactory.getLogger(RequestExchange.class);
  static final int BODY_BYTES_MAX = 4096;
  private static final long BODY_MS_MAX = 2000;

  private final Transport transport;
  private final Supplier<HttpPost> requests;
  private final ScheduledExecutorService timer;
  private volatile HttpPost request;
  private volatile boolean cancelled;
  private byte[] body = new byte[0];

  /**
   * @param requests writes the request, each time with a time and signatures of its own: a receiver
   *     may refuse one that it has seen
   */
  RequestExchange(
      Transport transport, Supplier<HttpPost> requests, ScheduledExecutorService timer) {
    this.transport = transport;
    this.requests = requests;
    this.timer = timer;
    this.request = requests.get();
  }

  /** Turns an answer into an outcome as soon as its status is there, and again with its body. */
  interface Reader {
    Outcome read(ClassicHttpResponse response, byte[] body);
  }

  /** Ends the exchange from another thread, wherever it stands. */
  void cancel() {
    cancelled = true;
    request.cancel();
  }

  Outcome run(Reader reader) throws IOException {
    HttpClientContext context = context();
    try {
      return send(context, reader);
    } catch (IOException e) {
      if (!wasStale(e, context)) {
        throw e;
      }
      // The receiver closed a kept connection just when we used it again: no fault of anybody's.
      transport.forgetIdle();
      request = requests.get();
      if (cancelled) {
        throw e; // before it knew of the new request
      }
      return send(context(), reader);
    }
  }

  private HttpClientContext context() {
    HttpClientContext context = HttpClientContext.create();
    context.setAttribute(CheckedConnector.REQUEST, request);
    return context;
  }

  private Outcome send(HttpClientContext context, Reader reader) throws IOException {
    ClassicHttpResponse response = transport.client().executeOpen(null, request, context);
    try {
      Outcome byStatus = reader.read(response, body);
      readBody(response.getEntity());
      return byStatus instanceof Outcome.Delivered ? byStatus : reader.read(response, body);
    } finally {
      // Drops the connection unless the body's end has given it back. Closing the response instead
      // would read the rest of the body first, however long.
      request.cancel();
    }
  }

  private boolean wasStale(IOException e, HttpClientContext context) {
    EndpointDetails used = context.getEndpointDetails();
    return ConnectionErrors.isBroken(e)
        && !cancelled
        && used != null
        && used.getResponseCount() > 0;
  }

  /** Whatever goes wrong here changes nothing: the status has been received. */
  private void readBody(@Nullable HttpEntity entity) {
    if (entity == null) {
      return;
    }
    try {
      ScheduledFuture<?> limit =
          timer.schedule(request::cancel, BODY_MS_MAX, TimeUnit.MILLISECONDS);
      try {
        readSome(entity.getContent());
      } finally {
        limit.cancel(false);
      }
    } catch (IOException | RuntimeException e) {
      log.debug("an answer's body was not read to its end", Silenced.of(e));
    }
  }

  private void readSome(InputStream in) throws IOException {
    byte[] buffer = new byte[BODY_BYTES_MAX];
    int length = 0;
    try {
      int read = 0;
      while (read >= 0 && length < buffer.length) {
        read = in.read(buffer, length, buffer.length - length);
        length += Math.max(read, 0);
      }
    } finally {
      body = Arrays.copyOf(buffer, length);
    }
  }
}

package dev.postrider.webhook;

import dev.postrider.message.ErrorReport;
import dev.postrider.message.Outcome;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import javax.net.ssl.SSLException;
import org.apache.hc.client5.http.ClientProtocolException;
import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.core5.http.ConnectionClosedException;
import org.apache.hc.core5.http.MessageConstraintException;
import org.apache.hc.core5.http.NoHttpResponseException;
import org.jspecify.annotations.Nullable;

/**
 * What it means when no answer came. Without a connection nothing was sent and no other message
 * would fare better: the endpoint is unavailable. Afterwards the receiver may have the message, and
 * it counts as a try. Thread-safe.
 */
final class ConnectionErrors {
  private final ErrorText text;

  ConnectionErrors(ErrorText text) {
    this.text = text;
  }

  Outcome of(Throwable e) {
    if (e instanceof RefusedAddressException) {
      return Outcome.unavailable("address_refused", text.of(String.valueOf(e.getMessage())));
    }
    if (e instanceof UnknownHostException) {
      return Outcome.unavailable("unknown_host", error(e));
    }
    if (e instanceof ConnectTimeoutException) {
      return Outcome.unavailable("connect_timeout", error(e));
    }
    if (e instanceof ConnectException || e instanceof NoRouteToHostException) {
      return Outcome.unavailable("connect_failed", error(e));
    }
    if (e instanceof SSLException && !isBroken(e.getCause())) {
      return Outcome.unavailable("tls_failed", error(e));
    }
    if (e instanceof SocketTimeoutException) {
      return Outcome.retryable("timeout", "the receiver fell silent: " + error(e));
    }
    if (isBroken(e) || e instanceof SSLException) {
      return Outcome.retryable("connection_broken", error(e));
    }
    if (e instanceof ClientProtocolException || e instanceof MessageConstraintException) {
      return Outcome.retryable("bad_response", report(e));
    }
    return Outcome.retryable(e instanceof IOException ? "io_failed" : "request_failed", report(e));
  }

  /** Whether the connection broke, rather than that the other side said something wrong. */
  static boolean isBroken(@Nullable Throwable e) {
    return e instanceof NoHttpResponseException
        || e instanceof ConnectionClosedException
        || e instanceof SocketException
        || e instanceof EOFException;
  }

  private String error(Throwable e) {
    Throwable cause = cause(e);
    return text.of(cause.getClass().getSimpleName() + ": " + cause.getMessage());
  }

  /** The HTTP client quotes what it could not read, and a receiver may send the payload back. */
  private String report(Throwable e) {
    Throwable cause = cause(e);
    return ErrorReport.of(
        cause.getClass().getSimpleName(), text.of(String.valueOf(cause.getMessage())));
  }

  private static Throwable cause(Throwable e) {
    return e.getCause() == null ? e : e.getCause();
  }
}

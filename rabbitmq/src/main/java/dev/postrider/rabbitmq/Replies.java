package dev.postrider.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AuthenticationFailureException;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import dev.postrider.message.Outcome;

/** What the broker's reply codes mean. Holds no state. */
final class Replies {
  private Replies() {}

  /** For the message that made the broker close the channel. */
  static Outcome refused(ShutdownSignalException signal) {
    String text = text(signal);
    return switch (code(signal)) {
      case AMQP.NOT_FOUND -> Outcome.retryable("no_exchange", text);
      case AMQP.ACCESS_REFUSED -> Outcome.retryable("access_refused", text);
      case AMQP.PRECONDITION_FAILED -> Outcome.terminal("precondition_failed", text);
      case AMQP.CONTENT_TOO_LARGE -> Outcome.terminal("too_large", text);
      default -> Outcome.retryable("channel_closed", text);
    };
  }

  /** Whether every message to the same exchange will fare alike. */
  static boolean concernsExchange(ShutdownSignalException signal) {
    int code = code(signal);
    return code == AMQP.NOT_FOUND || code == AMQP.ACCESS_REFUSED;
  }

  /** For messages that were on a channel when another one made the broker close it. */
  static Outcome beside(ShutdownSignalException signal) {
    return Outcome.unavailable(
        "channel_closed", "another message may have caused it: " + text(signal));
  }

  static Outcome connectionClosed(ShutdownSignalException signal) {
    return Outcome.unavailable("connection_closed", text(signal));
  }

  static Outcome notConnected(Throwable failure) {
    boolean login = failure instanceof AuthenticationFailureException;
    return Outcome.unavailable(login ? "login_refused" : "not_connected", text(failure));
  }

  /** The client's exceptions often say nothing themselves. */
  static String text(Throwable failure) {
    Throwable telling = failure;
    for (int depth = 0; depth < 5 && telling.getCause() != null; depth++) {
      telling = telling.getCause();
    }
    if (telling instanceof ShutdownSignalException signal) {
      return text(signal);
    }
    return telling.getClass().getSimpleName() + ": " + telling.getMessage();
  }

  static int code(ShutdownSignalException signal) {
    Method reason = signal.getReason();
    if (reason instanceof AMQP.Channel.Close close) {
      return close.getReplyCode();
    }
    return reason instanceof AMQP.Connection.Close close ? close.getReplyCode() : 0;
  }

  static String text(ShutdownSignalException signal) {
    Method reason = signal.getReason();
    if (reason instanceof AMQP.Channel.Close close) {
      return close.getReplyCode() + " " + close.getReplyText();
    }
    if (reason instanceof AMQP.Connection.Close close) {
      return close.getReplyCode() + " " + close.getReplyText();
    }
    Throwable cause = signal.getCause();
    return cause == null ? "the connection was lost" : cause.toString();
  }
}

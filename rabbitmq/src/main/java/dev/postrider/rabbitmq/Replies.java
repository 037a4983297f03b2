package dev.postrider.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AuthenticationFailureException;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import dev.postrider.message.Outcome;
import java.time.Duration;

/** What the broker's reply codes mean. Holds no state. */
final class Replies {
  /** A channel is replaced sooner. */
  private static final Duration SOON = Duration.ofMillis(100);

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

  /**
   * For messages that were not published, because another one made the broker close the channel.
   */
  static Outcome channelClosed(String text) {
    return Outcome.notSent("channel_closed", text, SOON);
  }

  /** For messages of a key, with pipelining. */
  static Outcome behind() {
    return Outcome.notSent("behind", "a message before it did not arrive", SOON);
  }

  static Outcome connectionClosed(ShutdownSignalException signal) {
    return Outcome.unavailable("connection_closed", text(signal));
  }

  static Outcome notConnected(Throwable failure) {
    if (failure instanceof TopologyException) {
      return Outcome.unavailable("dead_letters_lost", String.valueOf(failure.getMessage()));
    }
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

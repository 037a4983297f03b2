package dev.postrider.message;

import org.jspecify.annotations.Nullable;

/**
 * The text of a failure: a summary and, after a colon and a line break, what the other side said: a
 * receiver's reply or an exception's message. That part may repeat the message's payload. The
 * server shows it only to callers that may read payloads, and logs never show it. Holds no state.
 */
public final class ErrorReport {
  private static final String SEPARATOR = ":\n";

  private ErrorReport() {}

  /**
   * Puts both parts together.
   *
   * @param reply what the other side said; empty if it said nothing
   */
  public static String of(String error, String reply) {
    return reply.isEmpty() ? error : error + SEPARATOR + reply;
  }

  /** The summary is the exception's class. Its message is the reply. */
  public static String of(Throwable thrown) {
    String reply = thrown.getMessage() == null ? "" : thrown.getMessage();
    return of(thrown.getClass().getName(), reply);
  }

  /** The summary alone, for logs and for callers that may not read payloads. */
  public static @Nullable String withoutReply(@Nullable String report) {
    if (report == null) {
      return null;
    }
    int end = report.indexOf(SEPARATOR);
    return end < 0 ? report : report.substring(0, end);
  }
}

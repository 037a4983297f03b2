package dev.postrider.message;

import org.jspecify.annotations.Nullable;

/**
 * The text of a failure: our own words, and behind a colon and a line break what the other side
 * said. That may repeat the message's payload, so only those see it who may see payloads. Holds no
 * state.
 */
public final class ErrorReport {
  private static final String SEPARATOR = ":\n";

  private ErrorReport() {}

  /**
   * Both together.
   *
   * @param reply what the other side said, on one line; empty if nothing
   */
  public static String of(String error, String reply) {
    return reply.isEmpty() ? error : error + SEPARATOR + reply;
  }

  /** For those who may not see payloads, and for logs. */
  public static @Nullable String withoutReply(@Nullable String report) {
    if (report == null) {
      return null;
    }
    int end = report.indexOf(SEPARATOR);
    return end < 0 ? report : report.substring(0, end);
  }
}

package dev.postrider.webhook;

import dev.postrider.message.ErrorReport;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.time.Instant;
import org.apache.hc.client5.http.utils.DateUtils;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpResponse;
import org.jspecify.annotations.Nullable;

/** What a receiver's answer means for the message. Thread-safe. */
final class ResponseRules {
  static final int GONE = 410;

  private final WebhookConfig config;

  ResponseRules(WebhookConfig config) {
    this.config = config;
  }

  /**
   * @param text what the body says, fit to be stored
   */
  Outcome of(HttpResponse response, String text) {
    int status = response.getCode();
    String code = "http_" + status;
    String error = ErrorReport.of("HTTP " + status, text);
    if (status >= 200 && status < 300) {
      return Outcome.delivered();
    }
    if (status == GONE) {
      return gone(error);
    }
    if (status >= 300 && status < 400) {
      return Outcome.terminal("redirect", "HTTP " + status + ": redirects are not followed");
    }
    if (status >= 400 && status < 500 && status != 408 && status != 425 && status != 429) {
      return Outcome.terminal(code, error);
    }
    Duration wait = retryAfter(response);
    return wait == null ? Outcome.retryable(code, error) : Outcome.retryable(code, error, wait);
  }

  /** Says of the endpoint, not of the message: it waits until somebody has looked. */
  static Outcome gone(String error) {
    return Outcome.unavailable("endpoint_gone", error);
  }

  /** How long the receiver asks to be left alone, as seconds or as a date; null if it does not. */
  private @Nullable Duration retryAfter(HttpResponse response) {
    Header header = response.getFirstHeader("retry-after");
    String value = header == null || header.getValue() == null ? "" : header.getValue().strip();
    Duration wait;
    if (value.matches("\\d{1,9}")) {
      wait = Duration.ofSeconds(Long.parseLong(value));
    } else {
      Instant until = DateUtils.parseStandardDate(value);
      wait = until == null ? Duration.ZERO : Duration.between(config.clock.instant(), until);
    }
    if (wait.isNegative() || wait.isZero()) {
      return null;
    }
    return wait.compareTo(config.retryAfterMax) > 0 ? config.retryAfterMax : wait;
  }
}

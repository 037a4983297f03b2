package dev.postrider.observe;

import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Settlement;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what happens as structured lines, see {@link LogLine}; every relay has one. Never payloads
 * or header values. Of each kind of trouble at most 20 lines per destination and ten seconds are
 * written, the others are counted in {@code outbox_log_suppressed}. Thread-safe.
 */
public final class LoggingListener implements RelayListener {
  private static final Logger log = LoggerFactory.getLogger(LoggingListener.class);
  private static final int LINES = 20;

  private final LogBudget budget;

  public LoggingListener() {
    this(System::nanoTime);
  }

  LoggingListener(LongSupplier nanoTime) {
    this.budget = new LogBudget(LINES, nanoTime);
  }

  @Override
  public void woken(String reason) {
    budget.report(LoggingListener::suppressed);
  }

  @Override
  public void claimed(int messages, Duration took) {
    budget.report(LoggingListener::suppressed);
  }

  private static void suppressed(String kind, long lines) {
    int colon = kind.indexOf(':');
    log.warn(
        "{}",
        LogLine.of("outbox_log_suppressed")
            .put("of", kind.substring(0, colon))
            .put("destination", kind.substring(colon + 1))
            .put("lines", lines));
  }

  @Override
  public void settled(String destination, Settlement settlement) {
    switch (settlement.decision()) {
      case DELIVERED -> succeeded(destination, settlement);
      case RETRY -> failed(destination, settlement);
      case DEAD, DEAD_BLOCKING -> dead(destination, settlement);
      case RELEASED, DEFERRED -> {
        if (settlement.code() != null) {
          failed(destination, settlement);
        }
      }
    }
  }

  private static void succeeded(String destination, Settlement settlement) {
    if (log.isDebugEnabled()) {
      log.debug("{}", line("outbox_publish_succeeded", destination, settlement));
    }
  }

  private void failed(String destination, Settlement settlement) {
    if (log.isWarnEnabled() && budget.allows("outbox_publish_failed:" + destination)) {
      log.warn(
          "{}",
          line("outbox_publish_failed", destination, settlement)
              .put("retry_ms", settlement.delay().toMillis())
              .put("code", settlement.code())
              .put("error", ErrorReport.withoutReply(settlement.error())));
    }
  }

  private void dead(String destination, Settlement settlement) {
    if (log.isErrorEnabled() && budget.allows("outbox_event_dead_lettered:" + destination)) {
      log.error(
          "{}",
          line("outbox_event_dead_lettered", destination, settlement)
              .put("blocks_key", settlement.decision() == Settlement.Decision.DEAD_BLOCKING)
              .put("code", settlement.code())
              .put("error", ErrorReport.withoutReply(settlement.error())));
    }
  }

  @Override
  public void conflict(String destination, Settlement settlement) {
    if (log.isWarnEnabled() && budget.allows("outbox_settle_conflict:" + destination)) {
      log.warn(
          "{}",
          line("outbox_settle_conflict", destination, settlement)
              .put("refused", settlement.decision()));
    }
  }

  private static LogLine line(String event, String destination, Settlement settlement) {
    Message message = settlement.message();
    String subscription = message.route().subscription();
    return LogLine.of(event)
        .put("destination", destination)
        .put("id", message.id())
        .put("namespace", message.route().namespace())
        .put("topic", message.route().topic())
        .put("subscription", subscription.isEmpty() ? null : subscription)
        .put("event_type", message.eventType())
        .put("attempt", message.attempt())
        .put("delivery", message.delivery())
        .put("latency_ms", settlement.latencyMs());
  }

  @Override
  public void reaped(int messages) {
    log.warn("{}", LogLine.of("outbox_reaper_requeued").put("messages", messages));
  }

  @Override
  public void retained(String task, long removed, Duration took) {
    LogLine line =
        LogLine.of("outbox_retention_done")
            .put("task", task)
            .put("removed", removed)
            .put("took_ms", took.toMillis());
    if (removed > 0) {
      log.info("{}", line);
    } else {
      log.debug("{}", line);
    }
  }

  @Override
  public void retentionStopped(String task, long removed, Duration took) {
    log.info(
        "{}",
        LogLine.of("outbox_retention_stopped")
            .put("task", task)
            .put("removed", removed)
            .put("took_ms", took.toMillis()));
  }

  @Override
  public void retentionSkipped(String task, String reason) {
    log.warn("{}", LogLine.of("outbox_retention_skipped").put("task", task).put("reason", reason));
  }

  @Override
  public void retentionFailed(String task, Exception error) {
    log.warn(
        "{}",
        LogLine.of("outbox_retention_failed").put("task", task).put("error", Silenced.text(error)));
  }

  @Override
  public void targetBreaker(String destination, String target, String state) {
    if (budget.allows("outbox_target_breaker_changed:" + destination)) {
      LogLine line =
          LogLine.of("outbox_target_breaker_changed")
              .put("destination", destination)
              .put("target", target)
              .put("state", state);
      if (state.equals("open")) {
        log.warn("{}", line);
      } else {
        log.info("{}", line);
      }
    }
  }

  @Override
  public void breaker(String destination, String state) {
    LogLine line =
        LogLine.of("outbox_breaker_changed").put("destination", destination).put("state", state);
    if (state.equals("open")) {
      log.warn("{}", line);
    } else {
      log.info("{}", line);
    }
  }
}

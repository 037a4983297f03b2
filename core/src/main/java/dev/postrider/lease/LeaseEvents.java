package dev.postrider.lease;

import dev.postrider.error.DatabaseError;
import dev.postrider.internal.text.LogLine;
import dev.postrider.message.Route;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports the outcome of each call of one worker, to the log and to its listener. Thread-safe. */
final class LeaseEvents {
  private static final Logger log = LoggerFactory.getLogger(LeaseStore.class);

  private final String worker;
  private final LeaseOptions.Listener listener;

  LeaseEvents(String worker, LeaseOptions.Listener listener) {
    this.worker = worker;
    this.listener = listener;
  }

  /**
   * Messages were settled.
   *
   * @param id null if it was not a single one
   */
  void settled(FlushOutcome outcome, int count, @Nullable UUID id) {
    report(outcome, count, line -> line.put("id", id));
  }

  void dedupHit(Route target, UUID id) {
    report(FlushOutcome.DEDUP_HIT, 1, line -> line.put("target", target).put("id", id));
  }

  /**
   * The worker no longer held a message. The database has recorded it.
   *
   * @param now the message's state
   */
  void conflict(UUID id, String action, Optional<CurrentState> now) {
    report(
        FlushOutcome.CONFLICT,
        1,
        line ->
            line.put("id", id)
                .put("subscription", now.map(LeaseEvents::named).orElse(null))
                .put("action", action)
                .put("state", now.map(CurrentState::state).orElse(null))
                .put("locked_by", now.map(CurrentState::lockedBy).orElse(null)));
  }

  private static @Nullable String named(CurrentState state) {
    return state.subscription().isEmpty() ? null : state.subscription();
  }

  void failed(StoreException failure) {
    String reason =
        failure.getCause() instanceof SQLException sql ? DatabaseError.text(sql) : "unknown";
    report(FlushOutcome.of(failure.error()), 1, line -> line.put("error", reason));
  }

  private void report(FlushOutcome outcome, int count, UnaryOperator<LogLine> details) {
    LogLine line = LogLine.of(outcome.code()).put("worker", worker).put("count", count);
    String text = details.apply(line).toString();
    if (outcome.isTrouble()) {
      log.warn(text);
    } else {
      log.info(text);
    }
    listener.flushed(outcome, count);
  }
}

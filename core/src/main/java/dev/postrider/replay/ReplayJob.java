package dev.postrider.replay;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How far a replay is. Immutable.
 *
 * @param filter its conditions as JSON
 * @param matched messages found so far: requeued and skipped together
 * @param skipped found, but not delivered: still queued, dead, or discarded
 */
public record ReplayJob(
    long id,
    String filter,
    State state,
    long matched,
    long requeued,
    long skipped,
    String createdBy,
    Instant createdAt,
    Instant updatedAt,
    @Nullable Instant finishedAt) {

  /** Running also means: was running when its process died. Stopped and running can be resumed. */
  public enum State {
    RUNNING,
    STOPPED,
    DONE
  }
}

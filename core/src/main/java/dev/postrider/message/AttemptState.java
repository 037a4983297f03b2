package dev.postrider.message;

/**
 * What one attempt came to. Stored by number, except DISPATCHING, which is a running lease.
 * Immutable.
 */
public enum AttemptState {
  DISPATCHING,
  DISPATCHED,
  RETRYABLE,
  FAILED,
  ZOMBIE_REQUEUE,
  CONFLICT
}

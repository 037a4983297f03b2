package dev.postrider.message;

import java.util.Set;

/**
 * The states that people see. Delivered and dead end only by an operator's explicit act. Immutable.
 */
public enum MessageState {
  PENDING,
  PROCESSING,
  DELIVERED,
  DEAD;

  /** Where a relay may take a message from here. */
  public Set<MessageState> next() {
    return switch (this) {
      case PENDING -> Set.of(PROCESSING);
      case PROCESSING -> Set.of(DELIVERED, PENDING, DEAD);
      case DELIVERED, DEAD -> Set.of();
    };
  }

  /** Where an operator may take it: requeue and replay open a new, recorded delivery. */
  public Set<MessageState> nextByOperator() {
    return this == DELIVERED || this == DEAD ? Set.of(PENDING) : Set.of();
  }

  public boolean terminal() {
    return next().isEmpty();
  }
}

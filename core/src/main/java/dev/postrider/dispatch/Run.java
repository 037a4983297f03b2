package dev.postrider.dispatch;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The messages of one key in one claim. The next go to the destination when all that went before
 * are delivered, and none does after one that failed. Guarded by the dispatcher's lock.
 */
final class Run {
  /** Those that wait for the ones before them. */
  final Deque<Parcel> behind = new ArrayDeque<>();

  /** How many are with the destination. */
  int sent;

  /** Whether one of them did not arrive. */
  boolean broken;
}

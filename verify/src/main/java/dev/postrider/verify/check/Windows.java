package dev.postrider.verify.check;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Times that do not count. Immutable. */
final class Windows {
  private final List<long[]> merged = new ArrayList<>();

  /** Windows as pairs of start and end; they may overlap. */
  Windows(List<long[]> windows) {
    List<long[]> sorted = new ArrayList<>(windows);
    sorted.sort(Comparator.comparingLong(window -> window[0]));
    for (long[] window : sorted) {
      long[] last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (last != null && window[0] <= last[1]) {
        last[1] = Math.max(last[1], window[1]);
      } else {
        merged.add(window.clone());
      }
    }
  }

  /** How much of this time lies outside of all windows. */
  long outside(long from, long until) {
    long left = until - from;
    for (long[] window : merged) {
      left -= Math.max(0, Math.min(until, window[1]) - Math.max(from, window[0]));
    }
    return left;
  }
}

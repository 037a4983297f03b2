package dev.postrider.cli.settings;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Collectors;

/** Finds what somebody probably meant. */
final class Suggestion {
  private static final int DISTANCE_MAX = 3;

  private Suggestion() {}

  /** {@code did you mean "x"?}, or what there is to choose from. */
  static String of(String given, Collection<String> known) {
    Optional<String> near =
        known.stream()
            .filter(word -> distance(given, word) <= Math.min(DISTANCE_MAX, word.length() / 2))
            .min(Comparator.comparingInt(word -> distance(given, word)));
    if (near.isPresent()) {
      return "did you mean \"" + near.get() + "\"?";
    }
    return known.isEmpty()
        ? "there are none"
        : "there are " + known.stream().sorted().collect(Collectors.joining(", "));
  }

  /** Letters to insert, remove or change. */
  private static int distance(String a, String b) {
    int[] last = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      last[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(change, 1 + Math.min(last[j], row[j - 1]));
      }
      last = row;
    }
    return last[b.length()];
  }
}

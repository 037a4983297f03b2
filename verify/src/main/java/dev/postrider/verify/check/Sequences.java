package dev.postrider.verify.check;

import dev.postrider.verify.journal.Entry;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Gap-free sequences in commit order (I4), and one id for each message (I6). */
final class Sequences {
  private final History history;
  private final List<Violation> violations;

  Sequences(History history, List<Violation> violations) {
    this.history = history;
    this.violations = violations;
  }

  void check() {
    Map<String, SortedMap<Long, String>> keys = new HashMap<>();
    Map<String, String> ids = new HashMap<>();
    for (Sent sent : history.messages.values()) {
      Entry.Commit commit = sent.commit();
      if (commit != null) {
        note(keys, sent.intent.key(), commit.sequence(), commit.ref());
        ids.put(commit.ref(), commit.id());
        if (sent.otherId() != null) {
          add(Invariant.I6, "enqueued twice, also as " + sent.otherId() + ": " + commit);
        }
      }
    }
    Set<String> told = new HashSet<>();
    for (List<Entry.Arrival> arrivals : history.arrivals.values()) {
      for (Entry.Arrival arrival : arrivals) {
        note(keys, arrival.key(), arrival.sequence(), arrival.ref());
        String id = ids.putIfAbsent(arrival.ref(), arrival.id());
        if (id != null && !id.equals(arrival.id()) && told.add(arrival.ref())) {
          add(Invariant.I6, "one message under two ids, " + id + " and that of " + arrival);
        }
      }
    }
    keys.forEach(this::checkGaps);
    keys.values().forEach(this::checkCommitOrder);
  }

  private void note(
      Map<String, SortedMap<Long, String>> keys, @Nullable String key, long sequence, String ref) {
    if (key == null) {
      return;
    }
    String other = keys.computeIfAbsent(key, k -> new TreeMap<>()).putIfAbsent(sequence, ref);
    if (other != null && !other.equals(ref)) {
      add(Invariant.I4, key + "#" + sequence + " belongs to " + other + " and to " + ref);
    }
  }

  private void checkGaps(String key, SortedMap<Long, String> sequences) {
    long expected = 1;
    for (long sequence : sequences.keySet()) {
      if (sequence != expected) {
        add(Invariant.I4, "%s has no #%d before #%d".formatted(key, expected, sequence));
      }
      expected = sequence + 1;
    }
  }

  /** A transaction that began when another had been committed has the higher sequence. */
  private void checkCommitOrder(SortedMap<Long, String> sequences) {
    long latestIntent = Long.MIN_VALUE;
    for (String ref : sequences.values()) {
      Sent sent = history.messages.get(ref);
      if (sent == null) {
        continue; // told of by another check
      }
      Entry.Commit commit = sent.commit();
      if (commit != null && commit.at() < latestIntent) {
        add(Invariant.I4, "committed before one with a lower sequence was begun: " + commit);
      }
      latestIntent = Math.max(latestIntent, sent.intent.at());
    }
  }

  private void add(Invariant invariant, String what) {
    violations.add(new Violation(invariant, what));
  }
}

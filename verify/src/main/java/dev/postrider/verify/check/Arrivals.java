package dev.postrider.verify.check;

import dev.postrider.verify.check.History.Place;
import dev.postrider.verify.journal.Entry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What reached the sinks: nothing lost (I1), nothing invented (I2), in order (I3). */
final class Arrivals {
  private final History history;
  private final List<Violation> violations;

  Arrivals(History history, List<Violation> violations) {
    this.history = history;
    this.violations = violations;
  }

  void check() {
    history.arrivals.values().forEach(list -> list.forEach(this::checkOrigin));
    history.arrivals.forEach(this::checkOrder);
    checkComplete();
  }

  private void checkOrigin(Entry.Arrival arrival) {
    Sent sent = history.messages.get(arrival.ref());
    if (sent == null) {
      add(Invariant.I2, "no producer wrote " + arrival);
      return;
    }
    Entry.Intent intent = sent.intent;
    Entry.Commit commit = sent.commit();
    if (history.rolledBack.contains(intent.transaction())) {
      add(Invariant.I2, "rolled back, and arrived: " + arrival);
    }
    if (!intent.sinks().contains(arrival.sink())) {
      add(Invariant.I2, "meant for " + intent.sinks() + ", and arrived elsewhere: " + arrival);
    }
    if (!Objects.equals(intent.key(), arrival.key())
        || (commit != null && commit.sequence() != arrival.sequence())) {
      add(Invariant.I2, "arrived with another key or sequence than it was sent with: " + arrival);
    }
  }

  /** Copies do not count, and neither does a message that the sink had refused for good. */
  private void checkOrder(String sink, List<Entry.Arrival> arrivals) {
    Map<String, Entry.Arrival> last = new HashMap<>();
    Set<String> seen = new HashSet<>();
    for (Entry.Arrival arrival : arrivals) {
      String key = arrival.key();
      if (key == null
          || !seen.add(arrival.ref())
          || history.refused.contains(new Place(sink, arrival.ref()))) {
        continue;
      }
      Entry.Arrival before = last.put(key, arrival);
      if (before != null && before.sequence() >= arrival.sequence()) {
        add(Invariant.I3, "after " + before + " came " + arrival);
      }
    }
  }

  private void checkComplete() {
    Set<Place> arrived = new HashSet<>();
    history.arrivals.forEach(
        (sink, list) -> list.forEach(a -> arrived.add(new Place(sink, a.ref()))));
    history.transactions.forEach(
        (transaction, sent) -> {
          boolean acknowledged = history.committed.contains(transaction);
          if (!acknowledged && sent.stream().noneMatch(s -> arrivedSomewhere(arrived, s))) {
            return; // it was never committed, as far as anybody can know
          }
          for (Sent message : sent) {
            Set<String> missing = new TreeSet<>(message.intent.sinks());
            missing.removeIf(sink -> arrived.contains(new Place(sink, message.intent.ref())));
            if (!missing.isEmpty()) {
              add(Invariant.I1, lost(message, acknowledged) + " at " + missing);
            }
          }
        });
  }

  private static String lost(Sent message, boolean acknowledged) {
    @Nullable Entry commit = message.commit();
    return (acknowledged ? "never arrived: " : "its transaction arrived only in part: ")
        + (commit == null ? message.intent : commit);
  }

  private static boolean arrivedSomewhere(Set<Place> arrived, Sent sent) {
    return sent.intent.sinks().stream()
        .anyMatch(sink -> arrived.contains(new Place(sink, sent.intent.ref())));
  }

  private void add(Invariant invariant, String what) {
    violations.add(new Violation(invariant, what));
  }

  /** The first arrival of each message at each sink. */
  static List<Entry.Arrival> first(History history) {
    List<Entry.Arrival> first = new ArrayList<>();
    Set<Place> seen = new HashSet<>();
    history.arrivals.forEach(
        (sink, list) ->
            list.stream().filter(a -> seen.add(new Place(sink, a.ref()))).forEach(first::add));
    return first;
  }
}

package dev.postrider.verify.check;

import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.Journal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** All journals of a run, put together. Immutable once it is built. */
public final class History {
  final Map<String, Sent> messages = new HashMap<>();
  final Map<String, List<Sent>> transactions = new HashMap<>();
  final Set<String> committed = new HashSet<>();
  final Set<String> rolledBack = new HashSet<>();

  /** By sink, in the order of time. */
  final Map<String, List<Entry.Arrival>> arrivals = new HashMap<>();

  final List<Entry.Handover> handovers = new ArrayList<>();
  final List<Entry.Verdict> verdicts = new ArrayList<>();
  final List<Entry.Unanswered> unanswered = new ArrayList<>();
  final Set<Place> refused = new HashSet<>();
  final Map<Place, Integer> effects = new HashMap<>();
  final List<Entry.Fault> faults = new ArrayList<>();

  /** A message at a sink. */
  record Place(String sink, String ref) {}

  private History() {}

  /** Reads every journal in a directory. */
  public static History read(Path directory) {
    History history = new History();
    Journal.readAll(directory, history::add);
    return history.sorted();
  }

  /** A history of these entries. */
  public static History of(List<Entry> entries) {
    History history = new History();
    // Intents come first: journals are read one after the other.
    entries.forEach(history::add);
    return history.sorted();
  }

  private void add(Entry entry) {
    if (entry instanceof Entry.Intent e) {
      if (!messages.containsKey(e.ref())) {
        Sent sent = new Sent(e);
        messages.put(e.ref(), sent);
        transactions.computeIfAbsent(e.transaction(), t -> new ArrayList<>()).add(sent);
      }
    } else if (entry instanceof Entry.Commit e) {
      Sent sent = messages.get(e.ref());
      if (sent == null) {
        throw new IllegalArgumentException("committed without an intent before it: " + e.ref());
      }
      sent.committed(e);
      committed.add(e.transaction());
    } else if (entry instanceof Entry.Rollback e) {
      rolledBack.add(e.transaction());
    } else if (entry instanceof Entry.Handover e) {
      handovers.add(e);
    } else if (entry instanceof Entry.Verdict e) {
      verdicts.add(e);
    } else if (entry instanceof Entry.Unanswered e) {
      unanswered.add(e);
    } else if (entry instanceof Entry.Arrival e) {
      arrivals.computeIfAbsent(e.sink(), s -> new ArrayList<>()).add(e);
    } else if (entry instanceof Entry.Refusal e) {
      refused.add(new Place(e.sink(), e.ref()));
    } else if (entry instanceof Entry.Effect e) {
      effects.merge(new Place(e.sink(), e.ref()), 1, Integer::sum);
    } else if (entry instanceof Entry.Fault e) {
      faults.add(e);
    }
  }

  /** How many messages reached a sink, each counted once. */
  public long places(String sink) {
    return arrivals.getOrDefault(sink, List.of()).stream()
        .map(Entry.Arrival::ref)
        .distinct()
        .count();
  }

  private History sorted() {
    arrivals.values().forEach(list -> list.sort(Comparator.comparingLong(Entry::at)));
    handovers.sort(Comparator.comparingLong(Entry::at));
    verdicts.sort(Comparator.comparingLong(Entry::at));
    faults.sort(Comparator.comparingLong(Entry::at));
    return this;
  }
}

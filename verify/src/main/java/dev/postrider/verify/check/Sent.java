package dev.postrider.verify.check;

import dev.postrider.verify.journal.Entry;
import org.jspecify.annotations.Nullable;

/** One message as its producer knows it. Filled while the journals are read. */
final class Sent {
  final Entry.Intent intent;
  private Entry.@Nullable Commit commit;
  private @Nullable String otherId;

  /** The first intent counts: a producer that died repeats it. */
  Sent(Entry.Intent intent) {
    this.intent = intent;
  }

  void committed(Entry.Commit entry) {
    if (commit == null) {
      commit = entry;
    } else if (!commit.id().equals(entry.id())) {
      otherId = entry.id();
    }
  }

  Entry.@Nullable Commit commit() {
    return commit;
  }

  /** A second id that enqueue gave to the same message. */
  @Nullable String otherId() {
    return otherId;
  }
}

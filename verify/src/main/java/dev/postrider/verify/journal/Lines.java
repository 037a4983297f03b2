package dev.postrider.verify.journal;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Entries as lines of text and back. */
final class Lines {
  private static final String NONE = "-";

  private Lines() {}

  static String write(Entry entry) {
    List<Object> fields = new ArrayList<>();
    fields.add(entry.at());
    if (entry instanceof Entry.Intent e) {
      fields.addAll(List.of("intent", e.transaction(), e.ref(), orNone(e.key())));
      fields.addAll(List.of(String.join(",", e.sinks()), e.kind()));
    } else if (entry instanceof Entry.Commit e) {
      fields.addAll(List.of("commit", e.transaction(), e.ref(), e.id(), e.sequence()));
    } else if (entry instanceof Entry.Rollback e) {
      fields.addAll(List.of("rollback", e.transaction()));
    } else if (entry instanceof Entry.Handover e) {
      fields.addAll(List.of("handover", e.relay(), e.sink(), e.id(), e.token(), e.redelivery()));
    } else if (entry instanceof Entry.Verdict e) {
      fields.addAll(List.of("verdict", e.relay(), e.sink(), e.id(), e.token(), e.accepted()));
    } else if (entry instanceof Entry.Unanswered e) {
      fields.addAll(List.of("unanswered", e.relay(), e.sink(), e.id(), e.token(), e.code()));
    } else if (entry instanceof Entry.Arrival e) {
      fields.addAll(List.of("arrival", e.sink(), e.ref(), e.id(), orNone(e.key())));
      fields.addAll(List.of(e.sequence(), e.token()));
    } else if (entry instanceof Entry.Refusal e) {
      fields.addAll(List.of("refusal", e.sink(), e.ref()));
    } else if (entry instanceof Entry.Effect e) {
      fields.addAll(List.of("effect", e.sink(), e.ref()));
    } else if (entry instanceof Entry.Fault e) {
      fields.addAll(List.of("fault", e.until(), e.kind(), e.victim()));
    }
    return String.join("\t", fields.stream().map(Lines::checked).toList());
  }

  private static String checked(Object field) {
    String text = field.toString();
    if (text.isEmpty() || text.indexOf('\t') >= 0 || text.indexOf('\n') >= 0) {
      throw new IllegalArgumentException("not fit for a journal: '" + text + "'");
    }
    return text;
  }

  static Entry read(String line) {
    String[] f = line.split("\t", -1);
    try {
      long at = Long.parseLong(f[0]);
      return switch (f[1]) {
        case "intent" ->
            new Entry.Intent(
                at, f[2], f[3], orNull(f[4]), List.of(f[5].split(",")), Entry.Kind.valueOf(f[6]));
        case "commit" -> new Entry.Commit(at, f[2], f[3], f[4], Long.parseLong(f[5]));
        case "rollback" -> new Entry.Rollback(at, f[2]);
        case "handover" ->
            new Entry.Handover(
                at, f[2], f[3], f[4], Long.parseLong(f[5]), Boolean.parseBoolean(f[6]));
        case "verdict" ->
            new Entry.Verdict(
                at, f[2], f[3], f[4], Long.parseLong(f[5]), Boolean.parseBoolean(f[6]));
        case "unanswered" -> new Entry.Unanswered(at, f[2], f[3], f[4], Long.parseLong(f[5]), f[6]);
        case "arrival" ->
            new Entry.Arrival(
                at, f[2], f[3], f[4], orNull(f[5]), Long.parseLong(f[6]), Long.parseLong(f[7]));
        case "refusal" -> new Entry.Refusal(at, f[2], f[3]);
        case "effect" -> new Entry.Effect(at, f[2], f[3]);
        case "fault" -> new Entry.Fault(at, Long.parseLong(f[2]), FaultKind.valueOf(f[3]), f[4]);
        default -> throw new IllegalArgumentException("unknown kind '" + f[1] + "'");
      };
    } catch (RuntimeException e) {
      throw new IllegalArgumentException("not a line of a journal: '" + line + "'", e);
    }
  }

  private static String orNone(@Nullable String value) {
    return value == null ? NONE : value;
  }

  private static @Nullable String orNull(String value) {
    return value.equals(NONE) ? null : value;
  }
}

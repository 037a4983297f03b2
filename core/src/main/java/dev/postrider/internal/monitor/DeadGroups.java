package dev.postrider.internal.monitor;

import dev.postrider.deadletter.DeadLetter;
import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetterPage;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.message.Route;
import dev.postrider.operations.Messages;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.LongPredicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Dead letters by what went wrong. Looks at the newest {@value #MOST} that match, a page at a time.
 * Thread-safe if the dead letters are.
 *
 * @param shown the error text as the caller may see it; fingerprints are made from that
 */
public record DeadGroups(DeadLetters dead, UnaryOperator<@Nullable String> shown) {
  /** The most that are read. */
  public static final int MOST = 10_000;

  /**
   * All groups, the largest first.
   *
   * @param counted dead letters that were read
   * @param complete false if there are more than that
   */
  public record Result(List<DeadGroup> groups, int counted, boolean complete) {
    public Result {
      groups = List.copyOf(groups);
    }
  }

  private record Kind(Route route, @Nullable String code, String fingerprint) {}

  public Result read(DeadLetterFilter filter) throws SQLException {
    Map<Kind, DeadGroup> groups = new LinkedHashMap<>();
    int counted = 0;
    DeadLetterPage.@Nullable Cursor cursor = null;
    do {
      DeadLetterPage page = dead.list(filter, true, cursor, Messages.MAX_PAGE);
      for (DeadLetter letter : page.items()) {
        Kind kind = kind(letter);
        groups.merge(kind, first(letter, kind), DeadGroups::joined);
      }
      counted += page.items().size();
      cursor = page.next();
    } while (cursor != null && counted < MOST);
    List<DeadGroup> sorted = new ArrayList<>(groups.values());
    sorted.sort(
        Comparator.comparingInt(DeadGroup::count).thenComparing(DeadGroup::lastDiedAt).reversed());
    return new Result(sorted, counted, cursor == null);
  }

  /** Those of one group, the oldest first, handed over in batches until there are no more. */
  public long each(DeadLetterFilter filter, String fingerprint, LongPredicate goOn, Act act)
      throws SQLException {
    long done = 0;
    DeadLetterPage.@Nullable Cursor cursor = null;
    do {
      DeadLetterPage page = dead.list(filter, false, cursor, Messages.MAX_PAGE);
      Map<Route, List<UUID>> ids = new LinkedHashMap<>();
      for (DeadLetter letter : page.items()) {
        if (kind(letter).fingerprint().equals(fingerprint)) {
          ids.computeIfAbsent(letter.route(), route -> new ArrayList<>()).add(letter.id());
        }
      }
      for (Map.Entry<Route, List<UUID>> some : ids.entrySet()) {
        done += act.on(some.getValue(), some.getKey());
      }
      cursor = page.next();
    } while (cursor != null && goOn.test(done));
    return done;
  }

  /** Requeues or discards in one subscription; returns how many were still dead there. */
  @FunctionalInterface
  public interface Act {
    long on(List<UUID> ids, Route route) throws SQLException;
  }

  private Kind kind(DeadLetter letter) {
    return new Kind(letter.route(), letter.code(), Fingerprint.of(shown.apply(letter.error())));
  }

  private static DeadGroup first(DeadLetter letter, Kind kind) {
    return new DeadGroup(
        kind.route(),
        kind.code(),
        kind.fingerprint(),
        1,
        letter.blocking() ? 1 : 0,
        letter.diedAt(),
        letter.diedAt(),
        letter.id(),
        letter.error());
  }

  /** Pages come newest first, so the example of the older group stays. */
  private static DeadGroup joined(DeadGroup group, DeadGroup next) {
    return new DeadGroup(
        group.route(),
        Objects.equals(group.code(), next.code()) ? group.code() : null,
        group.fingerprint(),
        group.count() + 1,
        group.blocking() + next.blocking(),
        next.firstDiedAt(),
        group.lastDiedAt(),
        group.example(),
        group.error());
  }
}

package dev.postrider.internal.monitor;

import dev.postrider.deadletter.DeadLetter;
import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetterPage;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.internal.text.Fingerprint;
import dev.postrider.message.Route;
import dev.postrider.operations.Messages;
import java.sql.SQLException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Dead letters by what went wrong. Looks at the newest {@value #MOST} that match, a page at a time.
 * Thread-safe if the dead letters are.
 *
 * @param replies whether what receivers replied tells groups apart; else only summaries do
 */
public record DeadGroups(DeadLetters dead, boolean replies) {
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

  private Kind kind(DeadLetter letter) {
    String fingerprint =
        replies ? Fingerprint.of(letter.error()) : Fingerprint.ofSummary(letter.error());
    return new Kind(letter.route(), letter.code(), fingerprint);
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
        letter.diedAt().plus(1, ChronoUnit.MICROS),
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
        group.until(),
        group.example(),
        group.error());
  }
}

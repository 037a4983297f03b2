package dev.postrider.server.operate;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.postrider.deadletter.BlockedKey;
import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.monitor.LiveRelay;
import dev.postrider.message.Route;
import dev.postrider.observe.Backlog;
import dev.postrider.operations.Pauses;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/**
 * What waits, what is dead, who carries, what is paused.
 *
 * @param blocked of the blocked keys the first three, those that wait longest
 * @param topics those where most waits or is dead, 100 at most
 * @param topicsMore whether there are others
 */
public record Status(
    long pending,
    boolean pendingEstimated,
    @JsonProperty("oldest_age_seconds") Duration oldestAge,
    long processing,
    long stuck,
    long dead,
    boolean deadEstimated,
    long blockedKeys,
    boolean blockedKeysAtLeast,
    List<BlockedKey> blocked,
    List<Backlog.Topic> topics,
    boolean topicsMore,
    List<LiveRelay> relays,
    List<Route> unrouted,
    List<Pauses.Pause> paused) {
  private static final int TOPICS_MAX = 100;
  private static final int BLOCKED_MAX = 3;

  /** The keys to tell of. */
  public static List<BlockedKey> blocked(Backlog backlog, BlockedKeys keys) throws SQLException {
    return backlog.blockedKeys() == 0 ? List.of() : keys.page(null, BLOCKED_MAX);
  }

  public static Status of(
      Backlog backlog, List<BlockedKey> blocked, Fleet.State fleet, List<Pauses.Pause> paused) {
    return new Status(
        backlog.pending(),
        backlog.pendingEstimated(),
        backlog.oldestAge(),
        backlog.processing(),
        backlog.stuck(),
        backlog.dead(),
        backlog.deadEstimated(),
        backlog.blockedKeys(),
        backlog.blockedKeysAtLeast(),
        blocked,
        fullest(backlog.topics()),
        backlog.topics().size() > TOPICS_MAX,
        fleet.relays(),
        fleet.unrouted(),
        paused);
  }

  private static List<Backlog.Topic> fullest(List<Backlog.Topic> topics) {
    return topics.size() <= TOPICS_MAX
        ? topics
        : topics.stream()
            .sorted(Comparator.comparingLong(topic -> -topic.pending() - topic.dead()))
            .limit(TOPICS_MAX)
            .toList();
  }
}

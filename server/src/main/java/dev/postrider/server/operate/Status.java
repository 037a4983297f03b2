package dev.postrider.server.operate;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.postrider.message.Route;
import dev.postrider.observe.Backlog;
import dev.postrider.observe.LiveRelay;
import dev.postrider.store.Pauses;
import java.time.Duration;
import java.util.List;

/**
 * What waits, what is dead, who carries, what is paused.
 *
 * @param topics those where most waits or is dead, 100 at most
 * @param topicsMore whether there are others
 */
record Status(
    long pending,
    boolean pendingEstimated,
    @JsonProperty("oldest_age_seconds") Duration oldestAge,
    long processing,
    long stuck,
    long dead,
    boolean deadEstimated,
    long blockedKeys,
    boolean blockedKeysAtLeast,
    List<Backlog.Topic> topics,
    boolean topicsMore,
    List<LiveRelay> relays,
    List<Route> unrouted,
    List<Pauses.Pause> paused) {}

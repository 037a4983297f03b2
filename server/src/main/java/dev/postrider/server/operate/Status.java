package dev.postrider.server.operate;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.postrider.observe.Backlog;
import dev.postrider.observe.Workers;
import dev.postrider.store.Pauses;
import java.time.Duration;
import java.util.List;

/** What waits, what is dead, who carries, what is paused. */
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
    List<Workers.LiveRelay> relays,
    List<Pauses.Pause> paused) {}

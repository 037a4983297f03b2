package dev.postrider.verify.check;

import java.time.Duration;

/**
 * What a run promises.
 *
 * @param takeover after the death of a relay its messages are handed over again within this time
 * @param resume when a server is back, messages flow again within this time
 * @param patience longest wait of a healthy message, not counting the times above and of faults
 * @param retention how long delivered messages are kept
 */
public record Bounds(Duration takeover, Duration resume, Duration patience, Duration retention) {}

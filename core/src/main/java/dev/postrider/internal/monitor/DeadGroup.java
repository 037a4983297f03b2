package dev.postrider.internal.monitor;

import dev.postrider.internal.text.Fingerprint;
import dev.postrider.message.Route;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Dead letters of one topic that failed in the same way. Immutable.
 *
 * @param fingerprint see {@link Fingerprint}
 * @param count how many there are, of those that were read
 * @param blocking how many of them their keys wait for
 * @param until the end of the time in which these died: as {@code to} it leaves out later ones
 * @param example the one that died last
 * @param error its error text
 */
public record DeadGroup(
    Route route,
    @Nullable String code,
    String fingerprint,
    int count,
    int blocking,
    Instant firstDiedAt,
    Instant lastDiedAt,
    Instant until,
    UUID example,
    @Nullable String error) {}

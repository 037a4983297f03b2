/**
 * What no outbox can beat, in the harness of the outboxes: the business transaction alone, an
 * insert into a bare table, deleting its rows in batches, reading them, and a bare NOTIFY.
 */
@NullMarked
package dev.postrider.bench.limit;

import org.jspecify.annotations.NullMarked;

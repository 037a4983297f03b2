/**
 * Hearing what happens: listeners, structured log events, metrics, and a look at what waits in the
 * database. What comes in: events of the stages. What goes out: log lines and numbers. Nothing here
 * changes what the relay does. Micrometer is optional: only MicrometerMetrics, DestinationMeters
 * and BacklogMeters know it.
 */
@NullMarked
package dev.postrider.observe;

import org.jspecify.annotations.NullMarked;

/**
 * Hands claimed messages to destinations. What comes in: batches under a lease. What goes out: one
 * answer per message. The SPI for destinations is {@link dev.postrider.destination.Destination}. No
 * SQL here, and destinations never see the store.
 */
@NullMarked
package dev.postrider.internal.dispatch;

import org.jspecify.annotations.NullMarked;

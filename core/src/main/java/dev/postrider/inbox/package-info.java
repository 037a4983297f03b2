/**
 * For the receiving side. What comes in: a message's id and the consumer's own connection with its
 * open transaction. What goes out: whether the effect is still to be done. Needs only the two
 * tables {@code inbox} and {@code inbox_sequence}, in the consumer's database. Nothing here knows
 * brokers or relays.
 */
@NullMarked
package dev.postrider.inbox;

import org.jspecify.annotations.NullMarked;

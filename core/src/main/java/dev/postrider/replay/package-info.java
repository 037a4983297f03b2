/**
 * Sends delivered messages again. What comes in: conditions, a time range and an operator's name.
 * What goes out: rows in the queue with a higher delivery number, and a job that knows how far it
 * got. Nothing is sent from here, and the log is only read.
 */
@NullMarked
package dev.postrider.replay;

import org.jspecify.annotations.NullMarked;

/**
 * What becomes of messages that no relay may touch any more. What comes in: an operator's name, and
 * the dead letters meant, one by one or by conditions. What goes out: pages of dead letters, new
 * deliveries in the queue, and an audit row for each act. Nothing is sent from here, and nothing
 * here decides that a message is dead.
 */
@NullMarked
package dev.postrider.deadletter;

import org.jspecify.annotations.NullMarked;

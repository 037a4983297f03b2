/**
 * Takes due messages from the queue under a lease. What comes in: a connection, how many, which
 * routes. What goes out: claimed messages, a key's in their order. No sending and no threads here.
 */
@NullMarked
package dev.postrider.internal.claim;

import org.jspecify.annotations.NullMarked;

/**
 * The first stage. What comes in: a new message and the caller's connection with its open
 * transaction. What goes out: an id, a sequence number, and rows that exist if the caller commits.
 * Nothing here opens a connection, commits, or talks to anything but the database.
 */
@NullMarked
package dev.postrider.enqueue;

import org.jspecify.annotations.NullMarked;

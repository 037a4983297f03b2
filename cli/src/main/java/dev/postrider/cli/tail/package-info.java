/**
 * Follows what relays did. What comes in: a database. What goes out: attempts soon after they were
 * recorded. Reads only the end of a table that is only appended to, whatever its size.
 */
@NullMarked
package dev.postrider.cli.tail;

import org.jspecify.annotations.NullMarked;

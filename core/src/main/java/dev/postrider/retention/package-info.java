/**
 * Removes what is past its retention. What comes in: a period for each kind of row. What goes out:
 * a smaller database, counts, and an error if a task failed. Small steps on connections of its own;
 * no stage waits for it.
 */
@NullMarked
package dev.postrider.retention;

import org.jspecify.annotations.NullMarked;

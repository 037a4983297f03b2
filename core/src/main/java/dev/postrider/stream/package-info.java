/**
 * The log that connected clients follow: a destination appends the messages it is given, with
 * positions whose order is the order of commits, and readers ask for what comes after a position.
 * No clients and no HTTP here.
 */
@NullMarked
package dev.postrider.stream;

import org.jspecify.annotations.NullMarked;

/** Reads the log of the stream destination. */
@NullMarked
package dev.postrider.internal.stream;

import org.jspecify.annotations.NullMarked;

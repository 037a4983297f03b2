/** Removes rows past their retention, in small steps, on one relay at a time. */
@NullMarked
package dev.postrider.internal.retention;

import org.jspecify.annotations.NullMarked;

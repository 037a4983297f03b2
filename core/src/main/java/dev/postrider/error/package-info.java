/** Why the database or an operation refused something, and whether a repetition may help. */
@NullMarked
package dev.postrider.error;

import org.jspecify.annotations.NullMarked;

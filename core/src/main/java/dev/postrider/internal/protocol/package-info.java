/** Values that the stages of a relay exchange, and values that Java and SQL share. */
@NullMarked
package dev.postrider.internal.protocol;

import org.jspecify.annotations.NullMarked;

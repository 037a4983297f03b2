/** A socket factory for the driver: with it an idle connection gets a notification at once. */
@NullMarked
package dev.postrider.wake;

import org.jspecify.annotations.NullMarked;

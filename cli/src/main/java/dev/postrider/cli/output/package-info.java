/**
 * What people and scripts read. What comes in: values. What goes out: aligned text, or JSON, and
 * colour only where there is a terminal that wants it.
 */
@NullMarked
package dev.postrider.cli.output;

import org.jspecify.annotations.NullMarked;

/**
 * Made-up traffic, so that there is something to see. What comes in: a data source. What goes out:
 * a few messages a second, and a destination that fails now and then.
 */
@NullMarked
package dev.postrider.cli.demo;

import org.jspecify.annotations.NullMarked;

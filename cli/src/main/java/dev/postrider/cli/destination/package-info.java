/**
 * The kinds of destinations that a configuration can name. What comes in: a section of the
 * settings. What goes out: a destination, opened only when a relay starts. A new kind is one class
 * and one line in {@link dev.postrider.cli.destination.DestinationTypes}.
 */
@NullMarked
package dev.postrider.cli.destination;

import org.jspecify.annotations.NullMarked;

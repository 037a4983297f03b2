/**
 * Where messages are delivered to. {@link dev.postrider.destination.Destination} is the interface
 * that a destination implements. Destinations never see the database.
 */
@NullMarked
package dev.postrider.destination;

import org.jspecify.annotations.NullMarked;

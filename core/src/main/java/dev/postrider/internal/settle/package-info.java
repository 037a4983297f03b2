/**
 * Records outcomes. What comes in: answers of destinations. What goes out: queue rows that are
 * gone, parked or released, one attempt row each, and the ids that were refused because their lease
 * is lost. No sending and no threads here.
 */
@NullMarked
package dev.postrider.internal.settle;

import org.jspecify.annotations.NullMarked;

/**
 * The loop that sees all stages: wake, claim, dispatch, settle. What comes in: a database,
 * destinations and routes. What goes out: delivered messages. The stages do not know each other;
 * they meet only here.
 */
@NullMarked
package dev.postrider.relay;

import org.jspecify.annotations.NullMarked;

/**
 * The lease store: claim messages and record their results in a loop of the application's own code,
 * without a relay.
 */
@NullMarked
package dev.postrider.lease;

import org.jspecify.annotations.NullMarked;

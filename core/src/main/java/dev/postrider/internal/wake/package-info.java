/**
 * Wakes a relay: the doorbell flag, the connection that hears it, and what a thread sleeps on. A
 * wakeup is a hint and never the truth: nothing is lost if one is. No claiming here.
 */
@NullMarked
package dev.postrider.internal.wake;

import org.jspecify.annotations.NullMarked;

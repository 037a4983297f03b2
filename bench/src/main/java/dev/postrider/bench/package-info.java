/** Measures what the outbox can do on this machine. */
@NullMarked
package dev.postrider.bench;

import org.jspecify.annotations.NullMarked;

/**
 * A long run with retentions of seconds, which must leave no trace: sizes and latency stay flat.
 */
@NullMarked
package dev.postrider.bench.soak;

import org.jspecify.annotations.NullMarked;

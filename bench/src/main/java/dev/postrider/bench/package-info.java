/**
 * Measures what the outbox can do on this machine. What comes in: scenario names and sizes. What
 * goes out: tables for people and one line of JSON for machines. Figures of different runs do not
 * compare, so every scenario runs its yardstick beside it, in turns. Nothing here is published.
 */
@NullMarked
package dev.postrider.bench;

import org.jspecify.annotations.NullMarked;

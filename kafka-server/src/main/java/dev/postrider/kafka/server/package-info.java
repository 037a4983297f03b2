/**
 * A Kafka broker that belongs to this process: what comes in are broker settings, what goes out is
 * an address. Nothing here knows Postrider, and nothing but tests and benchmarks uses it.
 */
@NullMarked
package dev.postrider.kafka.server;

import org.jspecify.annotations.NullMarked;

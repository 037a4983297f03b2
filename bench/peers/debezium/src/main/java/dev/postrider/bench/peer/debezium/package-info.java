/** Embedded Debezium with its outbox event router under measurement. */
@NullMarked
package dev.postrider.bench.peer.debezium;

import org.jspecify.annotations.NullMarked;

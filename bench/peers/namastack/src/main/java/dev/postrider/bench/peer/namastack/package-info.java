/** Namastack Outbox under measurement. */
@NullMarked
package dev.postrider.bench.peer.namastack;

import org.jspecify.annotations.NullMarked;

/**
 * A real PostgreSQL server for tests and benchmarks, started from binaries on the class path.
 *
 * <p>Comes in: where the binaries and the data are, and server parameters. Goes out: a JDBC URL and
 * the means to stop, restart and crash the server. Nothing here knows the outbox.
 */
@NullMarked
package dev.postrider.embedded;

import org.jspecify.annotations.NullMarked;

/**
 * A short measurement of a database. What comes in: a data source. What goes out: figures. What it
 * writes it writes into a schema of its own, so that no relay and no query of others sees it, and
 * drops it in the end.
 */
@NullMarked
package dev.postrider.cli.bench;

import org.jspecify.annotations.NullMarked;

/**
 * The database: schema and migrations, roles, partitions, error classes, and the lease store for
 * people who drive their own loop. What comes in: a DataSource. What goes out: tables and functions
 * that the stages call. No threads here.
 */
@NullMarked
package dev.postrider.store;

import org.jspecify.annotations.NullMarked;

/**
 * Looks for what is wrong, or soon will be. What comes in: a database. What goes out: findings,
 * each with what to do about it. Reads only, and no big table.
 */
@NullMarked
package dev.postrider.cli.doctor;

import org.jspecify.annotations.NullMarked;

/**
 * The commands. Each class is one command of the command line: its options, what it asks of the
 * core, and how the answer is shown. Logic that others could use belongs to the core.
 */
@NullMarked
package dev.postrider.cli.command;

import org.jspecify.annotations.NullMarked;

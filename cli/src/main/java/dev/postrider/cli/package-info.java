/**
 * The executable. What comes in: arguments, a configuration file, the environment. What goes out:
 * an exit code, and what people or scripts read. The work itself is done by the core's services;
 * here it is only asked for and shown.
 */
@NullMarked
package dev.postrider.cli;

import org.jspecify.annotations.NullMarked;

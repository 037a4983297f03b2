/**
 * Settings by their paths, from a file, the environment and flags. What comes in: text. What goes
 * out: typed values, where each came from, and everything that is wrong with them, at once. Nothing
 * here knows which settings there are.
 */
@NullMarked
package dev.postrider.cli.settings;

import org.jspecify.annotations.NullMarked;

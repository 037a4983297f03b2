/**
 * The configuration: which settings there are. What comes in: settings. What goes out: immutable
 * records that were checked, or everything that is wrong with them.
 */
@NullMarked
package dev.postrider.cli.config;

import org.jspecify.annotations.NullMarked;

/**
 * What the examples stand on, so that each shows only its own pattern: options, a database with
 * tables, an end by time or Ctrl-C, and processes that can be killed. Nothing here is Postrider's.
 */
@NullMarked
package dev.postrider.examples.stage;

import org.jspecify.annotations.NullMarked;

/**
 * Whether all is well, and the numbers. Health is answered from what was sampled last, so that
 * asking for it costs the database nothing and works without it.
 */
@NullMarked
package dev.postrider.server.health;

import org.jspecify.annotations.NullMarked;

/**
 * The HTTP server: what it listens on, what it limits, and which endpoints it has. What comes in:
 * requests with tokens. What goes out: JSON, from the core's services and nothing else. The rules
 * of delivery are not here.
 */
@NullMarked
package dev.postrider.server;

import org.jspecify.annotations.NullMarked;

/**
 * The web console: its files, its sessions, and what it shows live. What comes in: samples of the
 * database, one reader for all browsers. What goes out: static files and server-sent events. The
 * pages themselves use the API that everybody else uses.
 */
@NullMarked
package dev.postrider.server.console;

import org.jspecify.annotations.NullMarked;

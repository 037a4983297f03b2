/**
 * Pushes the stream log to connected clients as NDJSON or SSE. One tail per node reads the log
 * once; clients that are behind read by themselves until they meet it. No thread belongs to a
 * client.
 */
@NullMarked
package dev.postrider.server.stream;

import org.jspecify.annotations.NullMarked;

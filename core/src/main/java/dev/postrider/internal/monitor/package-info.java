/**
 * What the server and the command line show: relays, attempts, the audit log, the reason why a
 * message waits.
 */
@NullMarked
package dev.postrider.internal.monitor;

import org.jspecify.annotations.NullMarked;

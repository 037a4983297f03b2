/**
 * What operators look at and do. Every act names the caller's token in the audit; the acts
 * themselves are the core's.
 */
@NullMarked
package dev.postrider.server.operate;

import org.jspecify.annotations.NullMarked;

/**
 * Hearing what happens: listeners, structured log events, metrics. Nothing here changes what the
 * relay does. Micrometer is optional and fenced in its own class.
 */
@NullMarked
package dev.postrider.observe;

import org.jspecify.annotations.NullMarked;

/**
 * Delivers messages as HTTP requests: in comes a batch, out goes one signed POST per message to one
 * endpoint, and back comes an outcome. Every address is checked before it is connected to; nothing
 * here follows a redirect or reads an answer without end.
 */
@NullMarked
package dev.postrider.webhook;

import org.jspecify.annotations.NullMarked;

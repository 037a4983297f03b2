/** What the destination modules share: the headers of a message, and templates for addresses. */
@NullMarked
package dev.postrider.internal.envelope;

import org.jspecify.annotations.NullMarked;

/**
 * What a message looks like on the wire: in comes a message, out come a content type, a body and
 * attributes, the same for every broker. Nothing here knows a protocol or opens a connection.
 */
@NullMarked
package dev.postrider.envelope;

import org.jspecify.annotations.NullMarked;

/**
 * Messages in, and looking at what became of them. Whatever a message carries is withheld from
 * callers without the permission to see it.
 */
@NullMarked
package dev.postrider.server.messages;

import org.jspecify.annotations.NullMarked;

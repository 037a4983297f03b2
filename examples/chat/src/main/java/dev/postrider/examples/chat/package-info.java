/**
 * A chat: messages of projects and their sessions, committed with their events, and pushed to
 * browsers on whichever server node they are connected to.
 */
@NullMarked
package dev.postrider.examples.chat;

import org.jspecify.annotations.NullMarked;

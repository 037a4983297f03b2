/**
 * The vocabulary that the stages exchange: messages, outcomes, settlements, states. Nothing here
 * depends on another package of ours, touches a database or starts a thread.
 */
@NullMarked
package dev.postrider.message;

import org.jspecify.annotations.NullMarked;

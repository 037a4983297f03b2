/**
 * Chat turns whose usage is billed exactly once: the turn's end, its quota debit and its usage
 * message are one transaction, and billing is idempotent on the message's dedupe key.
 */
@NullMarked
package dev.postrider.examples.usagebilling;

import org.jspecify.annotations.NullMarked;

/**
 * Who may do what over the network. What comes in: a name and what it is allowed, or a secret. What
 * goes out: a secret, once, or the token that it belongs to. Secrets are stored nowhere.
 */
@NullMarked
package dev.postrider.access;

import org.jspecify.annotations.NullMarked;

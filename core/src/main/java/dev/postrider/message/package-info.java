/** The vocabulary: what a message is, and what can happen to it. */
@NullMarked
package dev.postrider.message;

import org.jspecify.annotations.NullMarked;

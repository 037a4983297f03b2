/**
 * Notes that a worker brings to a memory service over HTTP. The worker drives its own loop over the
 * lease store, because its calls are long and what it does next depends on their answers.
 */
@NullMarked
package dev.postrider.examples.memorysync;

import org.jspecify.annotations.NullMarked;

/**
 * What producers, sinks and relays write down themselves, to be compared afterwards. Knows nothing
 * of the engine.
 */
@NullMarked
package dev.postrider.verify.journal;

import org.jspecify.annotations.NullMarked;

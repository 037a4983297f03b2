/** Judges the journals of a run. Knows nothing of the engine: only what was written down. */
@NullMarked
package dev.postrider.verify.check;

import org.jspecify.annotations.NullMarked;

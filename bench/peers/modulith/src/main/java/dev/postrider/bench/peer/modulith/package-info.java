/** Spring Modulith's event publication registry under measurement. */
@NullMarked
package dev.postrider.bench.peer.modulith;

import org.jspecify.annotations.NullMarked;

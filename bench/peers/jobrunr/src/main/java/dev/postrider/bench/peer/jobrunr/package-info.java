/** JobRunr under measurement. */
@NullMarked
package dev.postrider.bench.peer.jobrunr;

import org.jspecify.annotations.NullMarked;

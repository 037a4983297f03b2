/** Writes delivered messages of old days to files, checks the files, and removes the rows. */
@NullMarked
package dev.postrider.internal.archive;

import org.jspecify.annotations.NullMarked;

/** Real servers and child processes, killed and frozen by a seeded schedule. */
@NullMarked
package dev.postrider.verify.chaos;

import org.jspecify.annotations.NullMarked;

/** Who may call what, and how often. Everything that is not declared is refused. */
@NullMarked
package dev.postrider.server.access;

import org.jspecify.annotations.NullMarked;

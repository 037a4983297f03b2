/** The PostgreSQL schema of Postrider: its name, its migrations and the roles that may use it. */
@NullMarked
package dev.postrider.schema;

import org.jspecify.annotations.NullMarked;

/** Connections, transactions and statements. No knowledge of messages. */
@NullMarked
package dev.postrider.internal.jdbc;

import org.jspecify.annotations.NullMarked;

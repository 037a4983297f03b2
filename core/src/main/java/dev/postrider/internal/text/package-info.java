/** Text for machines and people: small JSON, log lines, and text that is safe to show. */
@NullMarked
package dev.postrider.internal.text;

import org.jspecify.annotations.NullMarked;

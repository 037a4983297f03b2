/** What users need to test code that uses Postrider. */
@NullMarked
package dev.postrider.testkit;

import org.jspecify.annotations.NullMarked;

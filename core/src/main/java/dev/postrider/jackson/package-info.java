/**
 * JSON codecs for applications that use Jackson. Each class needs its version of Jackson on the
 * class path; the rest of the core needs neither.
 */
@NullMarked
package dev.postrider.jackson;

import org.jspecify.annotations.NullMarked;

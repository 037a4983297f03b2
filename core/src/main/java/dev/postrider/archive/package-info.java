/**
 * The last stage. What comes in: a retention and a storage. What goes out: compressed files of
 * settled messages, each with a record of its checksum, and a log that is shorter by as much.
 * Nothing pending, processing or dead and unresolved leaves the log here, and nothing at all before
 * the file that holds it is durable and recorded.
 */
@NullMarked
package dev.postrider.archive;

import org.jspecify.annotations.NullMarked;

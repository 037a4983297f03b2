package dev.postrider.internal.stream;

import java.util.List;

/**
 * One page of the log. Immutable.
 *
 * @param position up to where was looked: the next look starts here, also when nothing matched
 * @param latest the log's last position at this moment; there is more if it is behind this
 */
public record StreamPage(List<StreamEvent> events, long position, long latest) {}

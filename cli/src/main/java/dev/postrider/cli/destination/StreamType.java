package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Section;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.stream.StreamDestination;

/** {@code stream}: the log that clients of the server follow. */
final class StreamType implements DestinationType {
  @Override
  public String name() {
    return "stream";
  }

  @Override
  public Opener read(Section section, DestinationOptions options) {
    return StreamDestination::new;
  }
}

package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Section;
import dev.postrider.dispatch.DestinationOptions;
import dev.postrider.stream.StreamDestination;
import java.time.Duration;

/** {@code stream}: the log that clients of the server follow. */
final class StreamType implements DestinationType {
  @Override
  public String name() {
    return "stream";
  }

  @Override
  public Opener read(Section section, DestinationOptions options) {
    Duration retention =
        section.duration(
            "retention", StreamDestination.RETENTION, Duration.ofHours(1), Duration.ofDays(365));
    return (dataSource, schema) -> new StreamDestination(dataSource, schema, retention);
  }
}

package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Section;
import dev.postrider.destination.DestinationOptions;
import java.io.FileDescriptor;
import java.io.FileOutputStream;

/** {@code log}: one line of JSON per message on standard output. */
final class LogType implements DestinationType {
  @Override
  public String name() {
    return "log";
  }

  @Override
  public Opener read(Section section, DestinationOptions options) {
    return (dataSource, schema) -> toStandardOutput();
  }

  /** Not System.out, which hides the error if the reader is gone. */
  private static LogDestination toStandardOutput() {
    return new LogDestination(new FileOutputStream(FileDescriptor.out));
  }
}

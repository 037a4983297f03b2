package dev.postrider.cli.config;

import dev.postrider.cli.destination.DestinationType;
import dev.postrider.cli.destination.DestinationTypes;
import dev.postrider.cli.settings.Section;
import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.schema.Schema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/** Reads {@code destinations}. */
final class DestinationSettings {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,99}");
  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofHours(1);

  private DestinationSettings() {}

  static List<DestinationConfig> read(Section root) {
    List<DestinationConfig> destinations = new ArrayList<>();
    try (Section all = root.section("destinations")) {
      Set<String> names = all.names("type");
      all.ignoreOthers(names);
      for (String name : names) {
        if (!NAME.matcher(name).matches()) {
          all.problem(name, "expected a name of letters, digits, dots, dashes and underscores");
        }
        try (Section section = all.section(name)) {
          destinations.add(destination(name, section));
        }
      }
    }
    return destinations;
  }

  private static DestinationConfig destination(String name, Section section) {
    String typeName = section.required("type");
    Optional<DestinationType> type = DestinationTypes.named(typeName);
    if (type.isEmpty() && !typeName.isEmpty()) {
      section.problem(
          "type",
          "expected one of %s, got \"%s\""
              .formatted(String.join(", ", DestinationTypes.names()), typeName));
    }
    DestinationOptions options = options(section);
    DestinationType.Opener opener =
        type.map(known -> known.read(section, options)).orElse(DestinationSettings::unknown);
    return new DestinationConfig(name, typeName, options, opener);
  }

  /** Never called: the configuration was refused. */
  private static Destination unknown(DataSource dataSource, Schema schema) {
    throw new IllegalStateException("a destination of an unknown type");
  }

  private static DestinationOptions options(Section section) {
    DestinationOptions usual = DestinationOptions.DEFAULT;
    return new DestinationOptions(
        section.number("concurrency", usual.concurrency(), 1, 100_000),
        section.number("max-in-flight", usual.maxInFlight(), 1, 100_000),
        section.size("max-bytes-in-flight", usual.maxBytesInFlight(), 1, 1L << 34),
        section.duration("timeout", usual.timeout(), SHORTEST, LONGEST),
        breaker(section));
  }

  private static BreakerOptions breaker(Section destination) {
    BreakerOptions usual = BreakerOptions.DEFAULT;
    try (Section section = destination.section("breaker")) {
      int failures = section.number("failures", usual.failures(), 1, 1_000_000);
      Duration min = section.duration("open-min", usual.openMin(), SHORTEST, LONGEST);
      Duration max = section.duration("open-max", usual.openMax(), SHORTEST, LONGEST);
      if (max.compareTo(min) < 0) {
        section.problem("open-max", "expected at least open-min");
        return usual;
      }
      return new BreakerOptions(failures, min, max);
    }
  }
}

package dev.postrider.cli.config;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A part of the configuration that only some commands use. The database and the schema belong to
 * none: every command reads them.
 */
public enum ConfigPart {
  /** What a relay needs, destinations with their secrets and the archive included. */
  RELAY,
  /** What archiving needs. */
  ARCHIVE,
  /** What the server needs. */
  SERVER;

  /** Its keys under {@code postrider}. */
  private List<String> keys() {
    return switch (this) {
      case RELAY -> List.of("relay", "retry", "destinations", "routes", "retention", "archive");
      case ARCHIVE -> List.of("archive");
      case SERVER -> List.of("server");
    };
  }

  /** The keys of several parts. */
  static Set<String> keys(Set<ConfigPart> parts) {
    Set<String> keys = new HashSet<>();
    parts.forEach(part -> keys.addAll(part.keys()));
    return keys;
  }

  /** All of them. */
  public static Set<ConfigPart> all() {
    return EnumSet.allOf(ConfigPart.class);
  }

  /** These. */
  public static Set<ConfigPart> of(ConfigPart... parts) {
    return parts.length == 0 ? EnumSet.noneOf(ConfigPart.class) : EnumSet.copyOf(List.of(parts));
  }
}

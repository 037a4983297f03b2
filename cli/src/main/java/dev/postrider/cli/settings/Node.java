package dev.postrider.cli.settings;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A part of the file, with its line. Immutable. */
sealed interface Node {
  Origin origin();

  /**
   * A single value.
   *
   * @param text null if the file has a key and nothing behind it
   */
  record Scalar(@Nullable String text, Origin origin) implements Node {}

  /** Values by name. */
  record Mapping(Map<String, Node> entries, Origin origin) implements Node {
    static Mapping empty(Origin origin) {
      return new Mapping(Map.of(), origin);
    }
  }

  /** Values in a row. */
  record Sequence(List<Node> items, Origin origin) implements Node {}
}

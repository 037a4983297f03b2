package dev.postrider.server.api;

import java.lang.reflect.Type;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One good answer of an endpoint. Immutable.
 *
 * @param when in which case it is given
 * @param type what is written as JSON; of a stream, what each line holds; null for plain text
 */
public record Answer(int status, String when, List<String> mediaTypes, @Nullable Type type) {
  public Answer {
    mediaTypes = List.copyOf(mediaTypes);
  }

  /** Whether its text is one JSON object after the other, without end. */
  public boolean isStream() {
    return type != null && !mediaTypes.contains(JSON);
  }

  static final String JSON = "application/json";
}

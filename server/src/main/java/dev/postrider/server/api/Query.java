package dev.postrider.server.api;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the parameters of a query. They are UTF-8, whatever a content type says about bodies. */
final class Query {
  private Query() {}

  static Map<String, List<String>> of(@Nullable String query) {
    Map<String, List<String>> values = new LinkedHashMap<>();
    if (query == null) {
      return values;
    }
    for (String part : query.split("&", -1)) {
      if (!part.isEmpty()) {
        String[] pair = part.split("=", 2);
        values
            .computeIfAbsent(decoded(pair[0]), name -> new ArrayList<>())
            .add(pair.length == 1 ? "" : decoded(pair[1]));
      }
    }
    return values;
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw Problem.invalid("query", "must be percent-encoded: " + e.getMessage()).toException();
    }
  }
}

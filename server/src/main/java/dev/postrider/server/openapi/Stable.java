package dev.postrider.server.openapi;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The same order in every run: {@link Map#of} has another in each. */
final class Stable {
  private Stable() {}

  static Map<String, Object> map(Map<?, ?> given) {
    boolean ordered = given instanceof LinkedHashMap || given instanceof SortedMap;
    Map<String, Object> copy = ordered ? new LinkedHashMap<>() : new TreeMap<>();
    given.forEach((name, value) -> copy.put(String.valueOf(name), value(value)));
    return copy;
  }

  private static Object value(Object given) {
    if (given instanceof Map<?, ?> map) {
      return map(map);
    }
    return given instanceof List<?> list ? list.stream().map(Stable::value).toList() : given;
  }
}

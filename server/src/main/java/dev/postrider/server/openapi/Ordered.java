package dev.postrider.server.openapi;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Makes maps that keep their order, so that the document is the same from every process. */
final class Ordered {
  private Ordered() {}

  /**
   * @param pairs names and values in turn
   */
  static Map<String, Object> of(Object... pairs) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      map.put((String) pairs[i], pairs[i + 1]);
    }
    return Collections.unmodifiableMap(map);
  }
}

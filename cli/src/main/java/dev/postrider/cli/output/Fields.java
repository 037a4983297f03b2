package dev.postrider.cli.output;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Collects an object for JSON; what is null is left out. Used by one thread. */
public final class Fields {
  private final Map<String, Object> values = new LinkedHashMap<>();

  public Fields with(String name, @Nullable Object value) {
    if (value != null) {
      values.put(name, value);
    }
    return this;
  }

  public Map<String, Object> map() {
    return values;
  }
}

package dev.postrider.kafka;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;

/**
 * Takes the values of passwords and keys out of texts that people, logs and tables get to see.
 * Thread-safe.
 */
final class Secrets {
  private static final String HIDDEN = "[hidden]";

  /** Shorter ones would blot out ordinary words. */
  private static final int SHORTEST = 3;

  /** The values inside a JAAS configuration: what stands behind an equals sign. */
  private static final Pattern INNER =
      Pattern.compile("=\\s*(?:\"([^\"]*)\"|'([^']*)'|([^\\s;]+))");

  private static final Map<String, ConfigKey> KNOWN = ProducerConfig.configDef().configKeys();

  private final List<String> values;

  Secrets(Map<String, String> settings) {
    Set<String> found = new LinkedHashSet<>();
    settings.forEach(
        (name, value) -> {
          if (isSecret(name)) {
            found.add(value);
            inner(value, found);
          }
        });
    found.removeIf(value -> value.length() < SHORTEST);
    // Longest first, or a part could be replaced and the rest of the whole stay.
    values = found.stream().sorted(Comparator.comparingInt(String::length).reversed()).toList();
  }

  /** A setting that Kafka does not know belongs to a plug-in and may be anything. */
  private static boolean isSecret(String name) {
    ConfigKey key = KNOWN.get(name);
    return key == null || key.type == ConfigDef.Type.PASSWORD;
  }

  private static void inner(String value, Set<String> found) {
    Matcher matcher = INNER.matcher(value);
    while (matcher.find()) {
      for (int group = 1; group <= matcher.groupCount(); group++) {
        if (matcher.group(group) != null) {
          found.add(matcher.group(group));
        }
      }
    }
  }

  String scrub(String text) {
    String clean = text;
    for (String value : values) {
      clean = clean.replace(value, HIDDEN);
    }
    return clean;
  }
}

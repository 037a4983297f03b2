package dev.postrider.kafka;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;

/**
 * Takes the values of passwords and keys out of texts that people, logs and tables get to see.
 * Thread-safe.
 */
final class SecretMask {
  private static final String HIDDEN = "[hidden]";

  /** Shorter ones would blot out ordinary words. */
  private static final int SHORTEST = 3;

  /** Of a JAAS configuration any word may be a secret if it is malformed; Kafka quotes words. */
  private static final List<String> SEPARATORS = List.of("[\\s\"'=;]+", "[^\\w$.-]+");

  private static final Pattern ORDINARY =
      Pattern.compile(
          "(?i)required|requisite|sufficient|optional|username|password|[\\w.$]*LoginModule");

  private static final Map<String, ConfigKey> KNOWN = ProducerConfig.configDef().configKeys();

  private final List<String> values;

  SecretMask(Map<String, String> settings) {
    Set<String> found = new LinkedHashSet<>();
    settings.forEach(
        (name, value) -> {
          if (isSecret(name)) {
            found.add(value);
            words(value, found);
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

  private static void words(String value, Set<String> found) {
    for (String separators : SEPARATORS) {
      for (String word : value.split(separators, -1)) {
        if (!ORDINARY.matcher(word).matches()) {
          found.add(word);
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

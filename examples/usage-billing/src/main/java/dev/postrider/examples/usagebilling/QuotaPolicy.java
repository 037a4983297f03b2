package dev.postrider.examples.usagebilling;

import dev.postrider.examples.stage.WrongOptionException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ServiceLoader;
import java.util.TreeMap;

/**
 * A plug-in that tells billing what was used. The configuration selects one by its name among those
 * that {@link ServiceLoader} finds. Thread-safe.
 */
public interface QuotaPolicy {
  String name();

  /**
   * Publishes one usage snapshot. It may come again, after a crash or a replay: the same key must
   * change nothing the second time.
   */
  void publishUsage(Connection billing, String dedupeKey, String usage) throws SQLException;

  /** The policy of this name. */
  static QuotaPolicy named(String name) {
    TreeMap<String, QuotaPolicy> known = new TreeMap<>();
    ServiceLoader.load(QuotaPolicy.class).forEach(policy -> known.put(policy.name(), policy));
    QuotaPolicy policy = known.get(name);
    if (policy == null) {
      throw new WrongOptionException(
          "expected a quota policy out of " + known.keySet() + ", got " + name);
    }
    return policy;
  }
}

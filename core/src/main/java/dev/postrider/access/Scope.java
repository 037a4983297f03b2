package dev.postrider.access;

import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Whose messages a token is about. Immutable.
 *
 * @param tenant null for all
 * @param namespace null for all
 * @param topics of that namespace; empty for all
 */
public record Scope(@Nullable String tenant, @Nullable String namespace, List<String> topics) {
  /** Everything. */
  public static final Scope ALL = new Scope(null, null);

  public Scope {
    topics = topics.stream().distinct().sorted().toList();
    if (!topics.isEmpty() && namespace == null) {
      throw new PostriderException(
          "topics belong to a namespace: a token limited to topics needs the namespace as well");
    }
  }

  public Scope(@Nullable String tenant, @Nullable String namespace) {
    this(tenant, namespace, List.of());
  }

  public static Scope tenant(String tenant) {
    return new Scope(tenant, null);
  }

  public static Scope namespace(String namespace) {
    return new Scope(null, namespace);
  }

  /** Whether there is anything that it leaves out. */
  public boolean limited() {
    return tenant != null || namespace != null;
  }

  /** Whether a message of this tenant, null for none, and route is within it. */
  public boolean covers(@Nullable String messageTenant, Route route) {
    return (tenant == null || tenant.equals(messageTenant))
        && (namespace == null || namespace.equals(route.namespace()))
        && (topics.isEmpty() || topics.contains(route.topic()));
  }

  /** Whether everything in the other is in this. */
  public boolean covers(Scope other) {
    return (tenant == null || Objects.equals(tenant, other.tenant))
        && (namespace == null || Objects.equals(namespace, other.namespace))
        && (topics.isEmpty() || (!other.topics.isEmpty() && topics.containsAll(other.topics)));
  }

  /**
   * An ordering or dedupe key as it is stored. The keys of a namespace are shared by its tenants.
   * So that one who may act for a single tenant cannot reach another's, its keys begin with the
   * tenant.
   */
  public String key(String key) {
    return tenant == null ? key : tenant.replace("%", "%25").replace("/", "%2F") + "/" + key;
  }
}

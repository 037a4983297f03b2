package dev.postrider.access;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Whose messages a token is about. Immutable.
 *
 * @param tenant null for all
 * @param namespace null for all
 */
public record Scope(@Nullable String tenant, @Nullable String namespace) {
  /** Everything. */
  public static final Scope ALL = new Scope(null, null);

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

  /** Whether a message of this tenant, null for none, and namespace is within it. */
  public boolean covers(@Nullable String messageTenant, String messageNamespace) {
    return (tenant == null || Objects.equals(tenant, messageTenant))
        && (namespace == null || namespace.equals(messageNamespace));
  }

  /** Whether everything in the other is in this. */
  public boolean covers(Scope other) {
    return (tenant == null || Objects.equals(tenant, other.tenant))
        && (namespace == null || Objects.equals(namespace, other.namespace));
  }
}

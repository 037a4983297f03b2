package dev.postrider.internal.envelope;

import org.jspecify.annotations.Nullable;

/**
 * A message's tenant, which may have two levels: {@code group} or {@code group/subsidiary}.
 *
 * @param subsidiary what follows the first slash
 */
public record Tenant(@Nullable String group, @Nullable String subsidiary) {
  public static Tenant of(@Nullable String tenant) {
    if (tenant == null) {
      return new Tenant(null, null);
    }
    int slash = tenant.indexOf('/');
    return slash < 0
        ? new Tenant(tenant, null)
        : new Tenant(tenant.substring(0, slash), tenant.substring(slash + 1));
  }
}

package dev.postrider.access;

import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a token; its secret is not. Immutable.
 *
 * @param granted permissions besides those of the role
 * @param expiresAt null if it does not expire
 */
public record Token(
    long id,
    String name,
    @Nullable Role role,
    Set<Permission> granted,
    Scope scope,
    String createdBy,
    Instant createdAt,
    @Nullable Instant expiresAt,
    @Nullable String revokedBy,
    @Nullable Instant revokedAt) {
  public Token {
    granted = Set.copyOf(granted);
  }

  /** All that it may do. */
  public Set<Permission> permissions() {
    Set<Permission> all = EnumSet.noneOf(Permission.class);
    all.addAll(granted);
    if (role != null) {
      all.addAll(role.permissions());
    }
    return all;
  }

  public boolean may(Permission permission) {
    return permissions().contains(permission);
  }
}

package dev.postrider.access;

import dev.postrider.error.RefusedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A token to make. Immutable; refuses what makes no sense, all at once.
 *
 * @param name who acts, in the audit; unique among tokens in use
 * @param role null for none: then the permissions say it all
 * @param permissions besides those of the role
 * @param lifetime null for one that does not expire
 */
public record NewToken(
    String name,
    @Nullable Role role,
    Set<Permission> permissions,
    Scope scope,
    @Nullable Duration lifetime) {
  private static final int NAME_MAX = 100;
  private static final Duration LIFETIME_MAX = Duration.ofDays(3650);

  public NewToken {
    permissions = Set.copyOf(permissions);
    List<String> problems = new ArrayList<>();
    if (name.isBlank() || name.length() > NAME_MAX) {
      problems.add("name must have 1 to " + NAME_MAX + " characters, has " + name.length());
    }
    if (role == null && permissions.isEmpty()) {
      problems.add("a token needs a role, or at least one permission");
    }
    if (lifetime != null && (lifetime.toSeconds() < 1 || lifetime.compareTo(LIFETIME_MAX) > 0)) {
      problems.add("lifetime must be from one second to 3650 days, got " + lifetime);
    }
    if (blank(scope.tenant()) || blank(scope.namespace())) {
      problems.add("a tenant or namespace that a token is limited to cannot be blank");
    }
    if (!problems.isEmpty()) {
      throw new RefusedException(String.join("; ", problems));
    }
  }

  /** A token with a role, for everything, until it is revoked. */
  public static NewToken of(String name, Role role) {
    return new NewToken(name, role, Set.of(), Scope.ALL, null);
  }

  /** A token with these permissions only. */
  public static NewToken of(String name, Permission... permissions) {
    return new NewToken(name, null, Set.of(permissions), Scope.ALL, null);
  }

  public NewToken with(Permission... more) {
    Set<Permission> all = new java.util.HashSet<>(permissions);
    all.addAll(List.of(more));
    return new NewToken(name, role, all, scope, lifetime);
  }

  public NewToken within(Scope limit) {
    return new NewToken(name, role, permissions, limit, lifetime);
  }

  public NewToken expiringIn(Duration time) {
    return new NewToken(name, role, permissions, scope, time);
  }

  private static boolean blank(@Nullable String text) {
    return text != null && text.isBlank();
  }
}

package dev.postrider.access;

import dev.postrider.error.RefusedException;
import java.util.Locale;
import java.util.Set;

/** Sets of permissions under a name. None of them shows payloads. Immutable. */
public enum Role {
  /** Looks. */
  VIEWER,
  /** Looks and acts. */
  OPERATOR,
  /** Looks, acts, enqueues and gives tokens. */
  ADMIN;

  public Set<Permission> permissions() {
    return switch (this) {
      case VIEWER -> Set.of(Permission.READ, Permission.STREAM, Permission.METRICS);
      case OPERATOR ->
          Set.of(Permission.READ, Permission.STREAM, Permission.METRICS, Permission.OPERATE);
      case ADMIN ->
          Set.of(
              Permission.READ,
              Permission.STREAM,
              Permission.METRICS,
              Permission.OPERATE,
              Permission.ENQUEUE,
              Permission.TOKENS);
    };
  }

  /** Its name in requests, answers and the database. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Role of(String label) {
    for (Role role : values()) {
      if (role.label().equals(label)) {
        return role;
      }
    }
    throw new RefusedException("unknown role '" + label + "'; known are viewer, operator, admin");
  }
}

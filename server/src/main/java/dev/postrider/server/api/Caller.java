package dev.postrider.server.api;

import dev.postrider.access.Permission;
import dev.postrider.access.Scope;
import dev.postrider.access.Token;
import org.jspecify.annotations.Nullable;

/**
 * Who calls. Immutable.
 *
 * @param token null for somebody without one
 * @param session whether it is a page of the console
 */
public record Caller(@Nullable Token token, String address, boolean session) {
  /** Who it is in the audit: names may be given again when a token is revoked, numbers are not. */
  public String name() {
    return token == null ? "anonymous" : token.name() + " (token " + token.id() + ")";
  }

  /** A name to count its use of resources by. */
  String counted() {
    return token == null ? "address " + address : "token " + token.id();
  }

  public boolean may(Permission permission) {
    return token != null && token.may(permission);
  }

  public Scope scope() {
    return token == null ? Scope.ALL : token.scope();
  }
}

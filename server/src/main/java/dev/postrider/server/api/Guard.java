package dev.postrider.server.api;

import dev.postrider.access.Permission;
import io.javalin.security.RouteRole;
import org.jspecify.annotations.Nullable;

/**
 * Who may call an endpoint. Every endpoint has one, and what has none is answered to nobody.
 * Immutable.
 *
 * @param permission null for everybody
 * @param scoped whether it keeps to the caller's tenant and namespace; one that does not refuses
 *     tokens that are limited to some
 * @param always whether it is answered however much else there is to do
 */
public record Guard(@Nullable Permission permission, boolean scoped, boolean always)
    implements RouteRole {
  /** Everybody, also without a token. */
  public static final Guard PUBLIC = new Guard(null, true, false);

  /** The same without limits, by threads of its own. */
  public static final Guard ALWAYS = new Guard(null, true, true);
}

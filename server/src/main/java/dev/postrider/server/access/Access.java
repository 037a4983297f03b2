package dev.postrider.server.access;

import dev.postrider.access.Permission;
import dev.postrider.access.Token;
import dev.postrider.access.Tokens;
import dev.postrider.server.api.Caller;
import dev.postrider.server.api.Guard;
import dev.postrider.server.api.Problem;
import dev.postrider.server.api.ProblemException;
import io.javalin.http.Context;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets callers in, or not. Those with a token have a rate for each token; the others, and those
 * whose token is no good, one for each address. Thread-safe.
 */
public final class Access {
  private static final String BEARER = "bearer ";

  private final Tokens tokens;
  private final RateLimiter byToken;
  private final RateLimiter byAddress;

  public Access(Tokens tokens, double perSecond, int burst, LongSupplier nanoClock) {
    this.tokens = tokens;
    this.byToken = new RateLimiter(perSecond, burst, nanoClock);
    this.byAddress = new RateLimiter(perSecond, burst, nanoClock);
  }

  /** The caller, if the guard lets it pass. */
  public Caller admit(Context context, Guard guard) throws SQLException {
    String address = context.req().getRemoteAddr();
    @Nullable String secret = secret(context, guard);
    @Nullable Permission needed = guard.permission();
    if (needed == null) {
      return atPublic(secret, address);
    }
    if (secret == null) {
      limit(byAddress.take(address));
      throw unauthorized("this needs a token: Authorization: Bearer <token>");
    }
    Token token = known(secret, address);
    if (!token.may(needed)) {
      throw Problem.forbidden(
              "this needs the permission "
                  + needed.label()
                  + "; token "
                  + token.name()
                  + " does not have it")
          .toException();
    }
    if (!guard.scoped() && token.scope().limited()) {
      throw Problem.forbidden(
              "token "
                  + token.name()
                  + " is limited to a tenant or namespace; this is about all of them")
          .toException();
    }
    return new Caller(token, address);
  }

  /** Public answers do not depend on a token, let alone on a database that can check it. */
  private Caller atPublic(@Nullable String secret, String address) {
    if (secret != null) {
      try {
        return new Caller(known(secret, address), address);
      } catch (SQLException e) {
        return new Caller(null, address);
      } catch (ProblemException e) {
        if (e.problem().status() == 429) {
          throw e;
        }
        return new Caller(null, address);
      }
    }
    limit(byAddress.take(address));
    return new Caller(null, address);
  }

  /** An address that failed too often is not even looked up: guessing costs us nothing. */
  private Token known(String secret, String address) throws SQLException {
    limit(byAddress.look(address));
    Optional<Token> token = tokens.check(secret);
    if (token.isEmpty()) {
      limit(byAddress.take(address));
      throw unauthorized("the token is not known, was revoked or has expired");
    }
    limit(byToken.take(Long.toString(token.get().id())));
    return token.get();
  }

  private static @Nullable String secret(Context context, Guard guard) {
    @Nullable String header = context.header("Authorization");
    if (header != null && header.toLowerCase(Locale.ROOT).startsWith(BEARER)) {
      return header.substring(BEARER.length()).trim();
    }
    return guard.permission() == Permission.METRICS ? context.header("x-metrics-token") : null;
  }

  private static void limit(Duration wait) {
    if (!wait.isZero()) {
      throw new ProblemException(
          Problem.of(
              429,
              "too-many-requests",
              "Too many requests",
              "too many requests at once; slow down and try again"),
          wait);
    }
  }

  private static ProblemException unauthorized(String detail) {
    return Problem.of(401, "unauthorized", "Not authenticated", detail).toException();
  }
}

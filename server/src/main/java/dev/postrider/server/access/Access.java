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
import java.util.Collections;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets callers in, or not. Those with a good token have a rate for each token; the others one for
 * each address, which takes nothing from a good token. Thread-safe.
 */
public final class Access {
  private static final String BEARER = "bearer ";

  private final Tokens tokens;
  private final Proxies proxies;
  private final RateLimiter byToken;
  private final RateLimiter byAddress;
  private final SignInLog signIns;
  private final RecentTokens readers;

  public Access(
      Tokens tokens, Proxies proxies, double perSecond, int burst, LongSupplier nanoClock) {
    this.tokens = tokens;
    this.proxies = proxies;
    this.byToken = new RateLimiter(perSecond, burst, nanoClock);
    this.byAddress = new RateLimiter(perSecond, burst, nanoClock);
    this.signIns = new SignInLog(nanoClock);
    this.readers = new RecentTokens(nanoClock);
  }

  /** The caller, if the guard lets it pass. */
  public Caller admit(Context context, Guard guard) throws SQLException {
    String address = address(context);
    @Nullable String secret = secret(context, guard);
    @Nullable Permission needed = guard.permission();
    if (needed == null) {
      return atPublic(secret, address, guard);
    }
    if (secret == null) {
      limit(byAddress.take(address));
      throw unauthorized("this needs a token: Authorization: Bearer <token>");
    }
    Token token =
        needed == Permission.METRICS ? knownForMetrics(secret, address) : known(secret, address);
    limit(byToken.take(Long.toString(token.id())));
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

  private String address(Context context) {
    return proxies.caller(
        context.req().getRemoteAddr(),
        Collections.list(context.req().getHeaders("X-Forwarded-For")));
  }

  /** Public answers do not depend on a token, let alone on a database that can check it. */
  private Caller atPublic(@Nullable String secret, String address, Guard guard) {
    @Nullable Token token = secret == null ? null : ifKnown(secret, address);
    if (!guard.always()) {
      limit(token == null ? byAddress.take(address) : byToken.take(Long.toString(token.id())));
    }
    return new Caller(token, address);
  }

  private @Nullable Token ifKnown(String secret, String address) {
    try {
      return known(secret, address);
    } catch (SQLException | ProblemException e) {
      return null;
    }
  }

  /** Metrics tell that the database fails, so they are shown while it does. */
  private Token knownForMetrics(String secret, String address) throws SQLException {
    try {
      Token token = known(secret, address);
      readers.remember(secret, token);
      return token;
    } catch (SQLException e) {
      return readers.recall(secret).orElseThrow(() -> e);
    }
  }

  private Token known(String secret, String address) throws SQLException {
    Optional<Token> token = tokens.check(secret);
    if (token.isEmpty()) {
      readers.forget(secret);
      signIns.failed(address, secret);
      limit(byAddress.take(address));
      throw unauthorized("the token is not known, was revoked or has expired");
    }
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

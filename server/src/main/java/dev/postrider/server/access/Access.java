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
 * each address, which takes nothing from a good token. Whoever guesses tokens costs the database no
 * more than that rate allows: when it is used up, only secrets that were good lately are looked up,
 * and those that have the mark of a good token. Thread-safe.
 */
public final class Access {
  private static final String BEARER = "bearer ";

  /**
   * A lookup that fails may take seconds, so who may read metrics is not looked up again so soon.
   */
  private static final long FAILED_NANOS = Duration.ofSeconds(5).toNanos();

  private final Tokens tokens;
  private final Proxies proxies;
  private final RateLimiter byToken;
  private final RateLimiter byAddress;
  private final SignInLog signIns;
  private final RecentTokens recent;
  private final TokenMarks marks;
  private final LongSupplier nanoClock;
  private volatile @Nullable Long failedNanos;

  public Access(
      Tokens tokens, Proxies proxies, double perSecond, int burst, LongSupplier nanoClock) {
    this.tokens = tokens;
    this.proxies = proxies;
    this.byToken = new RateLimiter(perSecond, burst, nanoClock);
    this.byAddress = new RateLimiter(perSecond, burst, nanoClock);
    this.signIns = new SignInLog(nanoClock);
    this.recent = new RecentTokens(nanoClock);
    this.marks = new TokenMarks(tokens, nanoClock);
    this.nanoClock = nanoClock;
  }

  /** The caller, if the guard lets it pass. */
  public Caller admit(Context context, Guard guard) throws SQLException {
    String address = address(context);
    @Nullable String shown = secret(context, guard);
    @Nullable String secret = shown == null ? Session.secret(context) : shown;
    boolean session = shown == null && secret != null;
    @Nullable Permission needed = guard.permission();
    if (needed == null) {
      return new Caller(atPublic(secret, address, guard), address, session);
    }
    if (secret == null) {
      limit(byAddress.take(address));
      throw unauthorized("this needs a token: Authorization: Bearer <token>");
    }
    Token token = withinRate(secret, address, needed);
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
    return new Caller(token, address, session);
  }

  /**
   * Whose token this is, for a caller who signs in.
   *
   * @throws ProblemException if it is nobody's
   */
  public Token signIn(String secret, String address) throws SQLException {
    return known(secret, address);
  }

  private String address(Context context) {
    return proxies.caller(
        context.req().getRemoteAddr(),
        Collections.list(context.req().getHeaders("X-Forwarded-For")));
  }

  /** Public answers do not depend on a token, let alone on a database that can check it. */
  private @Nullable Token atPublic(@Nullable String secret, String address, Guard guard) {
    @Nullable Token token = secret == null ? null : ifKnown(secret, address);
    if (!guard.always()) {
      limit(token == null ? byAddress.take(address) : byToken.take(Long.toString(token.id())));
    }
    return token;
  }

  private @Nullable Token ifKnown(String secret, String address) {
    try {
      return known(secret, address);
    } catch (SQLException | ProblemException e) {
      return null;
    }
  }

  /** The rate of a token that was good lately is taken first: a lookup may hold a thread. */
  private Token withinRate(String secret, String address, Permission needed) throws SQLException {
    Optional<Token> familiar = recent.recall(secret);
    if (familiar.isPresent()) {
      limit(byToken.take(Long.toString(familiar.get().id())));
    }
    Token token =
        needed == Permission.METRICS ? knownForMetrics(secret, address) : known(secret, address);
    if (familiar.isEmpty()) {
      limit(byToken.take(Long.toString(token.id())));
    }
    return token;
  }

  /** Metrics tell that the database fails, so they are shown while it does. */
  private Token knownForMetrics(String secret, String address) throws SQLException {
    @Nullable Long failed = failedNanos;
    if (failed != null && nanoClock.getAsLong() - failed < FAILED_NANOS) {
      Optional<Token> familiar = recent.recall(secret);
      if (familiar.isPresent()) {
        return familiar.get();
      }
    }
    try {
      return known(secret, address);
    } catch (SQLException e) {
      return recent.recall(secret).orElseThrow(() -> e);
    }
  }

  private Token known(String secret, String address) throws SQLException {
    boolean familiar = recent.recall(secret).isPresent();
    // A guess is paid for before it is looked up. A good token gets its call back.
    Duration wait = familiar ? Duration.ZERO : byAddress.take(address);
    if (!wait.isZero() && !marks.mayBeGood(secret)) {
      limit(wait);
    }
    Optional<Token> token = lookUp(secret);
    if (token.isPresent()) {
      if (!familiar && wait.isZero()) {
        byAddress.giveBack(address);
      }
      recent.remember(secret, token.get());
      return token.get();
    }
    recent.forget(secret);
    marks.forget(secret);
    signIns.failed(address, secret);
    limit(familiar ? byAddress.take(address) : wait);
    throw unauthorized("the token is not known, was revoked or has expired");
  }

  private Optional<Token> lookUp(String secret) throws SQLException {
    try {
      Optional<Token> token = tokens.check(secret);
      if (token.isPresent()) { // for bad ones it may not have been asked
        failedNanos = null;
      }
      return token;
    } catch (SQLException e) {
      failedNanos = nanoClock.getAsLong();
      throw e;
    }
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

package dev.postrider.server.access;

import dev.postrider.server.api.Problem;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The console's session: a cookie that holds the token. Scripts cannot read it, and browsers send
 * it only with requests of the server's own pages. Holds no state, so every server of a database
 * knows every session, and a token that is revoked ends all of its sessions.
 */
public final class Session {
  /** Whoever sends this header may set headers, which pages of other origins may not. */
  public static final String HEADER = "X-Postrider-Console";

  private static final String COOKIE = "postrider_session";
  private static final Duration LENGTH = Duration.ofHours(12);
  private static final String ATTRIBUTES = "; Path=/v1; HttpOnly; SameSite=Strict";

  /** Browsers take cookies for these over plain HTTP too. */
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private static final Set<String> OWN_SITE = Set.of("same-origin", "none");

  private Session() {}

  /** The token of the session; null if there is none. */
  static @Nullable String secret(Context context) {
    @Nullable String secret = context.cookie(COOKIE);
    if (secret == null || secret.isEmpty()) {
      return null;
    }
    if (!ofOwnPage(context)
        || (!context.method().equals(HandlerType.GET) && context.header(HEADER) == null)) {
      throw Problem.forbidden("a session is for the pages of this server only; send a token")
          .toException();
    }
    return secret;
  }

  /** Cookies do not tell ports apart, so other programs on the same host are the same site. */
  private static boolean ofOwnPage(Context context) {
    @Nullable String site = context.header("Sec-Fetch-Site");
    return site == null || OWN_SITE.contains(site);
  }

  /** Begins a session, for as long as the token is good and {@link #LENGTH} at most. */
  public static void begin(Context context, String secret, Duration left) {
    if (!ofOwnPage(context)) { // it would act as whoever owns the token of that page
      throw Problem.forbidden("only pages of this server sign in").toException();
    }
    Duration length = left.compareTo(LENGTH) < 0 ? left : LENGTH;
    write(context, secret, length.toSeconds());
  }

  public static void end(Context context) {
    write(context, "", 0);
  }

  private static void write(Context context, String value, long seconds) {
    String host = String.valueOf(context.host()).replaceFirst(":[0-9]+$", "");
    @Nullable String origin = context.header("Origin"); // a proxy may have changed the host
    boolean plain = LOOPBACK.contains(host) && (origin == null || !origin.startsWith("https:"));
    String secure = plain ? "" : "; Secure";
    context.header(
        "Set-Cookie", COOKIE + "=" + value + "; Max-Age=" + seconds + ATTRIBUTES + secure);
  }
}

package dev.postrider.server.console;

import dev.postrider.access.Permission;
import dev.postrider.access.Token;
import dev.postrider.server.access.Access;
import dev.postrider.server.access.Session;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Problem;
import io.javalin.http.HandlerType;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sign in, sign out, and who is signed in. */
record SessionEndpoints(Access access, SignInCodes codes) {
  private static final Duration ENDLESS = Duration.ofDays(36_500);

  /**
   * Who calls.
   *
   * @param limits what the token is limited to, such as {@code tenant acme}; empty if it is not
   */
  record WhoCalls(
      boolean signedIn,
      @Nullable String name,
      @Nullable String role,
      List<String> permissions,
      List<String> limits,
      @Nullable Instant expiresAt) {
    static WhoCalls of(@Nullable Token token) {
      if (token == null) {
        return new WhoCalls(false, null, null, List.of(), List.of(), null);
      }
      return new WhoCalls(
          true,
          token.name(),
          token.role() == null ? null : token.role().label(),
          token.permissions().stream().map(Permission::label).sorted().toList(),
          limits(token),
          token.expiresAt());
    }

    private static List<String> limits(Token token) {
      List<String> limits = new java.util.ArrayList<>();
      if (token.scope().tenant() != null) {
        limits.add("tenant " + token.scope().tenant());
      }
      if (token.scope().namespace() != null) {
        limits.add("namespace " + token.scope().namespace());
      }
      token.scope().topics().forEach(topic -> limits.add("topic " + topic));
      return limits;
    }
  }

  List<Endpoint> list() {
    return List.of(
        Endpoint.getPublic("/v1/session")
            .about("session", "Who calls, and what the token may do")
            .answers(WhoCalls.class)
            .handledBy(call -> WhoCalls.of(call.caller().token())),
        Endpoint.publicly(HandlerType.POST, "/v1/session")
            .about("session", "Sign a browser in: sets a cookie that stands for the token")
            .body(
                Field.text("token", "The token; or a code"),
                Field.text("code", "From a link that signs in once"))
            .answers(WhoCalls.class)
            .problems(401)
            .handledBy(this::begin),
        Endpoint.publicly(HandlerType.DELETE, "/v1/session")
            .about("session", "Sign a browser out; the token stays good")
            .answers(WhoCalls.class)
            .handledBy(this::end));
  }

  private Object begin(Call call) throws SQLException {
    @Nullable String code = call.body().text("code");
    @Nullable String given = call.body().text("token");
    if ((code == null) == (given == null)) {
      throw Problem.invalid("token", "is mandatory: give either a token or a code").toException();
    }
    String secret = given == null ? redeemed(String.valueOf(code)) : given.strip();
    Token token = access.signIn(secret, call.caller().address());
    @Nullable Instant end = token.expiresAt();
    Session.begin(
        call.context(), secret, end == null ? ENDLESS : Duration.between(Instant.now(), end));
    return WhoCalls.of(token);
  }

  private String redeemed(String code) {
    return codes
        .redeem(code)
        .orElseThrow(
            () ->
                Problem.of(
                        401,
                        "unauthorized",
                        "Not authenticated",
                        "the link was used already, or is older than an hour")
                    .toException());
  }

  private Object end(Call call) {
    Session.end(call.context());
    return WhoCalls.of(null);
  }
}

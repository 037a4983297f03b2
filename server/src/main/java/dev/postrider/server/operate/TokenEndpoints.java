package dev.postrider.server.operate;

import dev.postrider.access.CreatedToken;
import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.access.Scope;
import dev.postrider.access.Token;
import dev.postrider.access.Tokens;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Paging;
import dev.postrider.server.api.Problem;
import dev.postrider.server.api.Values;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The API of tokens. A caller can only grant permissions that the caller has. */
final class TokenEndpoints {
  private final Tokens tokens;

  TokenEndpoints(DataSource dataSource, Schema schema) {
    this.tokens = new Tokens(dataSource, schema);
  }

  /** The token's number. */
  record Revoked(long revoked) {}

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/tokens", Permission.TOKENS)
            .about("tokens", "All tokens, also revoked and expired ones; never their secrets")
            .query(Paging.cursor(Kind.INTEGER).between(0, Long.MAX_VALUE), Paging.LIMIT)
            .answersPage(ShownToken.class, Long.class)
            .handledBy(this::all),
        Endpoint.post("/v1/tokens", Permission.TOKENS)
            .about("tokens", "Make a token; the answer is the only place that shows its secret")
            .body(
                Field.text("name", "Who acts, in the audit").between(1, 100).mandatory(),
                Field.choice("role", "A set of permissions", "viewer", "operator", "admin"),
                Field.of("permissions", Kind.WORDS, "Permissions besides those of the role"),
                Field.text("tenant", "Only for messages of this tenant"),
                Field.text("namespace", "Only for messages of this namespace"),
                Field.of("topics", Kind.WORDS, "Only for messages of these topics of it"),
                Field.of("lifetime", Kind.DURATION, "After which it expires, such as P90D"))
            .status(201)
            .answers(CreatedToken.class)
            .handledBy(this::create),
        Endpoint.delete("/v1/tokens/{id}", Permission.TOKENS)
            .about("tokens", "Revoke a token, from this moment on")
            .path(Field.of("id", Kind.INTEGER, "Its number").between(1, Long.MAX_VALUE))
            .answers(Revoked.class)
            .problems(404)
            .handledBy(this::revoke));
  }

  private Object all(Call call) throws SQLException {
    @Nullable Long after = call.query().number("cursor");
    int limit = Paging.limit(call.query());
    List<Token> page = tokens.list(after == null ? 0 : after, limit);
    return Paging.page(
        page.stream().map(ShownToken::of).toList(),
        page.size() < limit ? null : page.get(page.size() - 1).id());
  }

  private CreatedToken create(Call call) throws SQLException {
    Values body = call.body();
    @Nullable String role = body.text("role");
    if (!body.words("topics").isEmpty() && !body.has("namespace")) {
      throw Problem.invalid("topics", "needs the namespace that they belong to").toException();
    }
    Set<Permission> permissions =
        body.words("permissions").stream().map(Permission::of).collect(Collectors.toSet());
    NewToken token =
        new NewToken(
            body.textOf("name"),
            role == null ? null : Role.of(role),
            permissions,
            new Scope(body.text("tenant"), body.text("namespace"), body.words("topics")),
            body.duration("lifetime"));
    Token maker = Objects.requireNonNull(call.caller().token());
    checkLifetime(maker.expiresAt(), token.lifetime());
    Set<Permission> excess = EnumSet.noneOf(Permission.class);
    excess.addAll(permissions);
    if (token.role() != null) {
      excess.addAll(token.role().permissions());
    }
    excess.removeAll(maker.permissions());
    if (!excess.isEmpty()) {
      throw Problem.forbidden(
              "a token cannot give what it does not have: "
                  + excess.stream().map(Permission::label).collect(Collectors.joining(", ")))
          .toException();
    }
    return tokens.create(call.actor(), token);
  }

  private static void checkLifetime(@Nullable Instant makerEnds, @Nullable Duration lifetime) {
    if (makerEnds == null) {
      return;
    }
    Duration left = Duration.between(Instant.now(), makerEnds);
    if (lifetime == null || lifetime.compareTo(left) > 0) {
      throw Problem.forbidden(
              "a token cannot make one that outlives it: give a lifetime of at most "
                  + Duration.ofSeconds(Math.max(0, left.toSeconds())))
          .toException();
    }
  }

  private Object revoke(Call call) throws SQLException {
    long id = Objects.requireNonNull(call.path().number("id"));
    if (!tokens.revoke(call.actor(), id)) {
      throw Problem.notFound("there is no token " + id + " in use").toException();
    }
    return new Revoked(id);
  }
}

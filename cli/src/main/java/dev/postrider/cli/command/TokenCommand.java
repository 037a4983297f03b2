package dev.postrider.cli.command;

import dev.postrider.access.CreatedToken;
import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.access.Scope;
import dev.postrider.access.Token;
import dev.postrider.access.Tokens;
import dev.postrider.cli.output.Colour;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Who may use the server. */
@Command(
    name = "token",
    description = "Create, list and revoke tokens for the server's API.",
    subcommands = {
      TokenCommand.Create.class,
      TokenCommand.Listing.class,
      TokenCommand.Revoke.class
    },
    footer = {
      "  ./postrider token create ann --role operator",
      "  ./postrider token list",
      "  ./postrider token revoke 3"
    })
final class TokenCommand extends PostriderCommand {
  @Override
  int run(Context context) {
    throw usage("create, list or revoke?");
  }

  /** Makes one. */
  @Command(
      name = "create",
      description = {
        "Create a token and print its secret once. The secret is not stored.",
        "Roles: viewer reads, operator also acts, admin also enqueues and creates tokens. To read"
            + " payloads, add --permission payload:read."
      },
      footer = {
        "  ./postrider token create ann --role operator --permission payload:read",
        "  ./postrider token create shop --permission enqueue --namespace shop --lifetime 90d"
      })
  static final class Create extends PostriderCommand {
    @Parameters(paramLabel = "NAME", description = "Who acts, in the audit.")
    String name = "";

    /** For completion. */
    static final class RoleNames implements Iterable<String> {
      @Override
      public Iterator<String> iterator() {
        return Arrays.stream(Role.values()).map(Role::label).iterator();
      }
    }

    /** For completion. */
    static final class PermissionNames implements Iterable<String> {
      @Override
      public Iterator<String> iterator() {
        return Arrays.stream(Permission.values()).map(Permission::label).iterator();
      }
    }

    @Option(
        names = "--role",
        paramLabel = "ROLE",
        description = "viewer, operator or admin",
        completionCandidates = RoleNames.class)
    @Nullable String role;

    @Option(
        names = "--permission",
        paramLabel = "NAME",
        split = ",",
        completionCandidates = PermissionNames.class,
        description =
            "Beside those of the role: read, payload:read, stream, metrics, enqueue, operate,"
                + " tokens.")
    List<String> permissions = new ArrayList<>();

    @Option(names = "--tenant", paramLabel = "TEXT", description = "Only of this tenant.")
    @Nullable String tenant;

    @Option(
        names = {"-n", "--namespace"},
        paramLabel = "TEXT",
        description = "Only of this namespace.")
    @Nullable String namespace;

    @Option(
        names = {"-t", "--topic"},
        paramLabel = "TEXT",
        description = "Only this topic of the namespace. Can be repeated.")
    List<String> topics = new ArrayList<>();

    @Option(
        names = "--lifetime",
        paramLabel = "TIME",
        description = "For example 90d. Without it the token is valid until it is revoked.")
    @Nullable String lifetime;

    @Override
    int run(Context context) throws Exception {
      Set<Permission> granted =
          permissions.stream().map(Permission::of).collect(Collectors.toSet());
      NewToken token =
          new NewToken(
              name,
              role == null ? null : Role.of(role),
              granted,
              new Scope(tenant, namespace, topics),
              lifetime == null ? null : Options.duration(this, "--lifetime", lifetime));
      CreatedToken created =
          new Tokens(context.dataSource(), context.schema()).create(context.actor(), token);
      if (context.json()) {
        screen()
            .json(
                new Fields()
                    .with("id", created.id())
                    .with("name", created.name())
                    .with("secret", created.secret())
                    .map());
      } else {
        screen().line(created.secret());
        screen().note("token %d, %s; the secret is shown only now".formatted(created.id(), name));
      }
      return ExitCode.OK;
    }
  }

  /** Lists them. */
  @Command(
      name = "list",
      description = "List tokens, including expired and revoked ones.",
      footer = "  ./postrider token list")
  static final class Listing extends PostriderCommand {
    private static final int PAGE = 1000;

    @Option(names = "--after", paramLabel = "ID", description = "Go on behind this one.")
    long after;

    @Override
    int run(Context context) throws Exception {
      List<Token> tokens = new Tokens(context.dataSource(), context.schema()).list(after, PAGE);
      if (context.json()) {
        screen()
            .json(new Fields().with("items", tokens.stream().map(Listing::json).toList()).map());
        return ExitCode.OK;
      }
      Table table =
          new Table("id", "name", "may", "only", "created", "by", "expires", "revoked")
              .optional("by", "created", "only");
      for (Token token : tokens) {
        table.row(
            token.revokedAt() == null ? null : Colour.FAINT,
            token.id(),
            token.name(),
            permissions(token),
            only(token.scope()),
            Words.time(token.createdAt()),
            token.createdBy(),
            Words.time(token.expiresAt()),
            token.revokedAt() == null ? "" : token.revokedBy());
      }
      if (table.isEmpty()) {
        screen().line("No token.");
      } else {
        screen().table(table);
      }
      if (tokens.size() == PAGE) {
        screen().note("more: --after " + tokens.get(PAGE - 1).id());
      }
      return ExitCode.OK;
    }

    private static String permissions(Token token) {
      String granted =
          token.granted().stream().map(Permission::label).sorted().collect(Collectors.joining(","));
      @Nullable Role role = token.role();
      return role == null ? granted : role.label() + (granted.isEmpty() ? "" : "," + granted);
    }

    private static String only(Scope scope) {
      return (scope.tenant() == null ? "" : "tenant " + scope.tenant() + " ")
          + (scope.namespace() == null ? "" : "namespace " + scope.namespace())
          + (scope.topics().isEmpty() ? "" : " topics " + String.join(",", scope.topics()));
    }

    private static Map<String, Object> json(Token token) {
      return new Fields()
          .with("id", token.id())
          .with("name", token.name())
          .with("role", token.role())
          .with(
              "permissions", token.permissions().stream().map(Permission::label).sorted().toList())
          .with("tenant", token.scope().tenant())
          .with("namespace", token.scope().namespace())
          .with("topics", token.scope().topics())
          .with("created_by", token.createdBy())
          .with("created_at", token.createdAt())
          .with("expires_at", token.expiresAt())
          .with("revoked_by", token.revokedBy())
          .with("revoked_at", token.revokedAt())
          .map();
    }
  }

  /** Takes one out of use. */
  @Command(
      name = "revoke",
      description = "Revoke a token. It stops working at once.",
      footer = "  ./postrider token revoke 3")
  static final class Revoke extends PostriderCommand {
    @Parameters(paramLabel = "ID", description = "The token's number, as listed.")
    long id;

    @Override
    int run(Context context) throws Exception {
      if (!new Tokens(context.dataSource(), context.schema()).revoke(context.actor(), id)) {
        throw new Failure(ExitCode.TROUBLE, "there is no token " + id + " in use");
      }
      if (context.json()) {
        screen().json(new Fields().with("revoked", id).map());
      } else {
        screen().line("Token " + id + " is revoked.");
      }
      return ExitCode.OK;
    }
  }
}

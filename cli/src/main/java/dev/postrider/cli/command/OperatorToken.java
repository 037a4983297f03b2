package dev.postrider.cli.command;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.access.Token;
import dev.postrider.access.Tokens;
import dev.postrider.embedded.OwnerOnly;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;

/**
 * The token of the user who runs {@code up}. It is made once and kept in a file that only its owner
 * can read. If the file or the database is another one, a new token is made. Immutable.
 */
record OperatorToken(Tokens tokens, Path file) {
  private static final String NAME = "up";
  private static final int PAGE = 1000;

  /** Sees to it that both files hold a valid token, and returns it. */
  String prepare(String actor) throws IOException, SQLException {
    String secret = secret(actor);
    OwnerOnly.write(headerFile(), "Authorization: Bearer " + secret + "\n");
    return secret;
  }

  /** The token as a request header, for {@code curl -H @file} (7.55 or newer). */
  Path headerFile() {
    return file.resolveSibling("operator-header");
  }

  private String secret(String actor) throws IOException, SQLException {
    if (Files.isReadable(file)) {
      String kept = Files.readString(file).strip();
      if (tokens.check(kept).isPresent()) {
        return kept;
      }
    }
    revokeLost(actor);
    NewToken wanted =
        NewToken.of(NAME, Role.OPERATOR).with(Permission.ENQUEUE, Permission.PAYLOAD_READ);
    String secret = tokens.create(actor, wanted).secret();
    OwnerOnly.write(file, secret + "\n");
    return secret;
  }

  /** The token whose file is gone, so its secret is lost. */
  private void revokeLost(String actor) throws SQLException {
    long after = 0;
    List<Token> page;
    do {
      page = tokens.list(after, PAGE);
      for (Token token : page) {
        after = token.id();
        if (token.name().equals(NAME) && token.revokedAt() == null) {
          tokens.revoke(actor, token.id());
        }
      }
    } while (page.size() == PAGE);
  }
}

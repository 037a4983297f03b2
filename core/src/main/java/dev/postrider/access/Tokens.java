package dev.postrider.access;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.operations.Messages;
import dev.postrider.schema.Schema;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Makes, revokes, lists and checks tokens. A secret names its token's number, so that the one hash
 * to compare with is found without searching by anything secret. Thread-safe if the data source is.
 */
public final class Tokens {
  private static final String CREATE =
      "select postrider.token_create(?, ?, ?, ?, string_to_array(?, ','), ?, ?, ?, ?)";
  private static final String REVOKE = "select postrider.token_revoke(?, ?)";
  private static final String FIND = "select * from postrider.token_find(?, ?)";
  private static final String MARKS = "select * from postrider.token_marks()";
  private static final String LIST = "select * from postrider.token_list(?, ?)";

  private static final Pattern SECRET =
      Pattern.compile("postrider_([1-9][0-9]{0,17})_([A-Za-z0-9_-]{43})");
  private static final int SECRET_BYTES = 32;
  private static final int MARK_BYTES = 4;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Database database;

  public Tokens(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /** Makes a token; the answer is the only place where its secret is ever seen. */
  public CreatedToken create(String actor, NewToken token) throws SQLException {
    RefusedException.ifBlank("actor", actor);
    byte[] random = new byte[SECRET_BYTES];
    RANDOM.nextBytes(random);
    String text = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    @Nullable Role role = token.role();
    long id =
        database.one(
            CREATE,
            row -> row.getLong(1),
            actor,
            token.name(),
            sha256(text),
            role == null ? null : role.label(),
            labels(token),
            token.scope().tenant(),
            token.scope().namespace(),
            token.scope().topics().toArray(String[]::new),
            token.lifetime() == null ? null : token.lifetime().toSeconds());
    return new CreatedToken(id, token.name(), "postrider_" + id + "_" + text);
  }

  private static String labels(NewToken token) {
    return token.permissions().stream()
        .map(Permission::label)
        .sorted()
        .collect(Collectors.joining(","));
  }

  /** Takes a token out of use from now on; false if it was not in use. */
  public boolean revoke(String actor, long id) throws SQLException {
    RefusedException.ifBlank("actor", actor);
    return database.one(REVOKE, row -> row.getBoolean(1), actor, id);
  }

  /**
   * Tokens by their numbers, those that are no longer good included.
   *
   * @param after the last number of the page before, 0 for the first page
   */
  public List<Token> list(long after, int limit) throws SQLException {
    return database.list(LIST, Tokens::token, after, Messages.pageSize(limit));
  }

  /**
   * Marks of the good tokens, of the newest 10,000: a secret whose {@link #mark} is not among them
   * is a guess. They are too short to tell anything about a secret.
   */
  public Set<String> marks() throws SQLException {
    return new HashSet<>(
        database.list(MARKS, row -> mark(row.getLong("id"), row.getBytes("mark"))));
  }

  /** The mark of a secret; null if the text cannot be one. */
  public static @Nullable String mark(String secret) {
    Matcher parts = SECRET.matcher(secret);
    return parts.matches()
        ? mark(
            Long.parseLong(parts.group(1)),
            Arrays.copyOf(sha256(sha256(parts.group(2))), MARK_BYTES))
        : null;
  }

  private static String mark(long id, byte[] bytes) {
    return id + "_" + HexFormat.of().formatHex(bytes);
  }

  /** The token that this secret belongs to, if it is neither revoked nor expired. */
  public Optional<Token> check(String secret) throws SQLException {
    Matcher parts = SECRET.matcher(secret);
    if (!parts.matches()) {
      return Optional.empty();
    }
    long id = Long.parseLong(parts.group(1));
    return database.list(FIND, Tokens::token, id, sha256(parts.group(2))).stream().findFirst();
  }

  private static Token token(ResultSet row) throws SQLException {
    @Nullable String role = row.getString("role");
    return new Token(
        row.getLong("id"),
        row.getString("name"),
        role == null ? null : Role.of(role),
        Arrays.stream((String[]) row.getArray("permissions").getArray())
            .map(Permission::of)
            .collect(Collectors.toSet()),
        new Scope(
            row.getString("tenant"),
            row.getString("namespace"),
            List.of((String[]) row.getArray("topics").getArray())),
        row.getString("created_by"),
        Objects.requireNonNull(Database.instant(row, "created_at")),
        Database.instant(row, "expires_at"),
        row.getString("revoked_by"),
        Database.instant(row, "revoked_at"));
  }

  private static byte[] sha256(String text) {
    return sha256(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }
}

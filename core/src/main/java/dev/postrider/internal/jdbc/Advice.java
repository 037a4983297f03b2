package dev.postrider.internal.jdbc;

import dev.postrider.schema.Schema;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Adds to a database error what people can do about it. The SQLSTATE stays, and the error is the
 * cause of the one that says more.
 */
public final class Advice {
  private Advice() {}

  /**
   * The error with an advice; the same error if there is none to give.
   *
   * @param role what follows the schema in the name of the role that the work needs
   * @param login who was refused; null if that is not known
   */
  public static SQLException on(
      SQLException error, Schema schema, String role, @Nullable String login) {
    @Nullable String advice = text(error, schema, role, login);
    return advice == null
        ? error
        : new SQLException(error.getMessage() + "\n" + advice, error.getSQLState(), error);
  }

  /** What to do; null if this class has no advice for the error. */
  public static @Nullable String text(
      SQLException error, Schema schema, String role, @Nullable String login) {
    @Nullable String state = error.getSQLState();
    if (state == null || error.getCause() instanceof SQLException) {
      return null; // unknown, or said already
    }
    return switch (state) {
      // No such schema, table, function, column or type.
      case "3F000", "42P01", "42883", "42703", "42704" -> migrate(schema, null);
      case "42501" -> grant(schema, role, login);
      default -> null;
    };
  }

  /**
   * Says how to install or update the schema.
   *
   * @param missing what is known to be missing; null if that is not known
   */
  public static String migrate(Schema schema, @Nullable String missing) {
    return "The schema \"%s\" %s. Run new Migrations(new Schema(\"%1$s\")).apply(dataSource), or: ./postrider migrate"
        .formatted(
            schema.name(),
            missing == null ? "is missing or does not fit this version of Postrider" : missing);
  }

  private static String grant(Schema schema, String role, @Nullable String login) {
    return ("The login%s needs a role. As the schema's owner: grant %s_%s to %s; roles are created"
            + " by new Roles(schema).apply(connection), or: ./postrider migrate --roles")
        .formatted(
            login == null ? "" : " \"" + login + "\"",
            schema.name(),
            role,
            login == null ? "LOGIN" : "\"" + login + "\"");
  }
}

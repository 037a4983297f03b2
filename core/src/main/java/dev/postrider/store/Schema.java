package dev.postrider.store;

import dev.postrider.message.PostriderException;
import java.util.regex.Pattern;

/**
 * The database schema that holds the tables. SQL is written for {@code postrider} and rewritten
 * here for another name; names are restricted to plain lower-case identifiers, so none needs
 * quoting.
 */
public record Schema(String name) {
  private static final Pattern ALLOWED = Pattern.compile("[a-z][a-z0-9_]{0,39}");
  private static final Pattern WORD = Pattern.compile("\\bpostrider\\b");

  /** The name used unless another is given. */
  public static final Schema DEFAULT = new Schema("postrider");

  public Schema {
    if (!ALLOWED.matcher(name).matches() || name.startsWith("pg_")) {
      throw new PostriderException(
          "schema name '"
              + name
              + "' is not allowed; use 1 to 40 lower-case letters, digits and underscores,"
              + " starting with a letter and not with pg_");
    }
  }

  /** Text written for the default schema, for this one. */
  public String sql(String text) {
    return name.equals("postrider") ? text : WORD.matcher(text).replaceAll(name);
  }

  /** The NOTIFY channel. */
  public String channel() {
    return name;
  }
}

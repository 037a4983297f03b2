package dev.postrider.schema;

import dev.postrider.message.PostriderException;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The database schema that holds the tables. SQL is written for {@code postrider} and rewritten
 * here for another name; names are restricted to plain lower-case identifiers, so none needs
 * quoting. Immutable.
 */
public record Schema(String name) {
  private static final Pattern ALLOWED = Pattern.compile("[a-z][a-z0-9_]{0,39}");
  private static final Pattern WORD = Pattern.compile("\\bpostrider\\b");

  /** Names of PostgreSQL's own schemas, and words that SQL does not take for a name unquoted. */
  private static final Set<String> TAKEN =
      Set.of(
          """
          public information_schema
          all analyse analyze and any array as asc asymmetric authorization binary both case cast
          check collate collation column concurrently constraint create cross current_catalog
          current_date current_role current_schema current_time current_timestamp current_user
          default deferrable desc distinct do else end except false fetch for foreign freeze from
          full grant group having ilike in initially inner intersect into is isnull join lateral
          leading left like limit localtime localtimestamp natural not notnull null offset on only
          or order outer overlaps placing primary references returning right select session_user
          similar some symmetric system_user table tablesample then to trailing true union unique
          user using variadic verbose when where window with"""
              .split("\\s+"));

  /** The name used unless another is given. */
  public static final Schema DEFAULT = new Schema("postrider");

  public Schema {
    if (!ALLOWED.matcher(name).matches() || name.startsWith("pg_") || TAKEN.contains(name)) {
      throw new PostriderException(
          "schema name '"
              + name
              + "' is not allowed; use 1 to 40 lower-case letters, digits and underscores,"
              + " starting with a letter and not with pg_, and no word that SQL reserves; the schema"
              + " must be Postrider's own");
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

package dev.postrider.cli.doctor;

import dev.postrider.message.PostriderException;
import dev.postrider.schema.Migrations;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Whether the schema is the one that this version made. */
final class SchemaChecks {
  private static final Pattern CREATED =
      Pattern.compile(
          "(?m)^ *create (?:or replace )?(?:unique )?(table|index|sequence|view|function) (?:if not exists )?"
              + "(?:\\w+\\.)?(\\w+)");
  private static final List<String> ROLES =
      List.of("producer", "relay", "operator", "reader", "server");

  // Roles belong to all databases of the server, grants to this one.
  private static final String GRANTED =
      """
      select coalesce((select has_schema_privilege(r.oid, 'postrider', 'usage')
                         from pg_roles r where r.rolname = ?), false)
      """;

  private SchemaChecks() {}

  static boolean exists(CheckedDatabase checked) throws SQLException {
    return checked
        .database()
        .one("select to_regclass('postrider.migration') is not null", row -> row.getBoolean(1));
  }

  static Finding migrations(CheckedDatabase checked) throws SQLException {
    if (!exists(checked)) {
      return Finding.trouble(
          "schema", "\"" + checked.schema().name() + "\" is not there", "Run: ./postrider migrate");
    }
    List<String> pending;
    try {
      pending = new Migrations(checked.schema()).pending(checked.dataSource());
    } catch (PostriderException changed) {
      return Finding.trouble(
          "schema",
          String.valueOf(changed.getMessage()),
          "Use the version of Postrider that made it, or restore the file's objects.");
    }
    return pending.isEmpty()
        ? Finding.ok("schema", "\"" + checked.schema().name() + "\" is up to date")
        : Finding.trouble(
            "schema",
            pending.size() + " migrations are missing: " + String.join(", ", pending),
            "Run: ./postrider migrate");
  }

  /** What the migrations made must still be there: somebody may have dropped an index at night. */
  static Finding objects(CheckedDatabase checked) throws SQLException {
    Set<String> there = new HashSet<>();
    checked
        .database()
        .list(
            """
            select relname from pg_class
             where relnamespace = 'postrider'::regnamespace
               and not exists (select from pg_index i where i.indexrelid = pg_class.oid and not i.indisvalid)
            union select proname from pg_proc where pronamespace = 'postrider'::regnamespace
            """,
            row -> row.getString(1))
        .forEach(there::add);
    Set<String> missing = new TreeSet<>();
    Matcher created = CREATED.matcher(new Migrations(checked.schema()).script());
    int known = 0;
    while (created.find()) {
      known++;
      if (!there.contains(created.group(2))) {
        missing.add(created.group(1) + " " + created.group(2));
      }
    }
    return missing.isEmpty()
        ? Finding.ok("objects", "all " + known + " tables, indexes and functions are there")
        : Finding.trouble(
            "objects",
            "missing or invalid: " + String.join(", ", missing),
            "Make them again; ./postrider migrate --print shows how.");
  }

  static Finding roles(CheckedDatabase checked) throws SQLException {
    List<String> missing = new ArrayList<>();
    for (String role : ROLES) {
      String name = checked.schema().name() + "_" + role;
      if (!checked.database().one(GRANTED, row -> row.getBoolean(1), name)) {
        missing.add(name);
      }
    }
    if (!missing.isEmpty()) {
      return Finding.note(
          "roles",
          "not there, or without grants: " + String.join(", ", missing),
          "For least privilege run: ./postrider migrate --roles");
    }
    List<String> open =
        checked
            .database()
            .list(
                """
                select distinct p.proname from pg_proc p, aclexplode(coalesce(p.proacl,
                  acldefault('f', p.proowner))) a
                 where p.pronamespace = 'postrider'::regnamespace and a.grantee = 0
                 order by 1 limit 5
                """,
                row -> row.getString(1));
    return open.isEmpty()
        ? Finding.ok("roles", "the five roles are there, and nobody else has grants")
        : Finding.trouble(
            "roles",
            "everybody may call " + String.join(", ", open),
            "Run: ./postrider migrate --roles");
  }
}

package dev.postrider.schema;

import dev.postrider.internal.jdbc.Advice;
import dev.postrider.internal.protocol.Version;
import dev.postrider.internal.text.LogLine;
import dev.postrider.message.PostriderException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates and upgrades the schema in one transaction. Tables come from numbered files, each applied
 * once. Functions and views are replaced as a whole if this version has others; those of a later
 * version stay. The roles that exist get their grants again.
 *
 * <p>Safe to run from many processes at once: they queue on a lock. If nothing is missing it only
 * reads, so a service may call it at every start with a role that cannot change the schema.
 * Thread-safe.
 */
public final class Migrations {
  private static final Logger log = LoggerFactory.getLogger(Migrations.class);

  /** The name of all functions and views in {@code postrider.migration} and in lists of files. */
  private static final String FUNCTIONS = "functions";

  /**
   * Names in the files mean the server's own functions, even if others exist in {@code public}.
   * Then one process at a time: a process that creates the table at the same moment as another
   * waits for its commit.
   */
  private static final String BEGIN =
      """
      set local search_path = pg_catalog, pg_temp;
      do $begin$
      begin
        create schema if not exists postrider;
        create table if not exists postrider.migration (
          file       text collate "C" primary key,
          checksum   text not null,
          version    text, -- of Postrider, for functions
          applied_at timestamptz not null default now()
        );
      exception when unique_violation or duplicate_schema or duplicate_table then
        null;
      end $begin$;
      lock table postrider.migration in share row exclusive mode;
      """;

  /** One file in the script: its name, the error if it was changed, its text, its checksum. */
  private static final String GUARDED =
      """

      -- %1$s
      do $guard$
      begin
        if exists (select from postrider.migration where file = '%1$s' and checksum <> '%4$s') then
          raise exception '%2$s';
        elsif not exists (select from postrider.migration where file = '%1$s') then
          execute %3$s;
          insert into postrider.migration (file, checksum) values ('%1$s', '%4$s');
        end if;
      end $guard$;
      """;

  private final Schema schema;

  public Migrations(Schema schema) {
    this.schema = schema;
  }

  /** Applies what is missing; returns the files applied by this call. */
  public List<String> apply(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      // A process that waited for the lock must see what its holder has done.
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      try {
        List<String> missing = missing(connection);
        if (!missing.isEmpty()) {
          execute(connection, schema.sql(BEGIN));
          missing = missing(connection);
        }
        if (!missing.isEmpty()) {
          execute(connection, upgrade());
        }
        connection.commit();
        return missing;
      } catch (SQLException | RuntimeException e) {
        connection.rollback();
        throw e;
      }
    }
  }

  /**
   * What {@link #apply} would do; reads only.
   *
   * @throws PostriderException if a table file was applied with other contents than this version's
   */
  public List<String> pending(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      return missing(connection);
    }
  }

  /**
   * Fails unless all files of this version were applied, and says what to do. Files of a later
   * version are fine: while a fleet is upgraded, the schema goes first. One small query.
   *
   * @throws PostriderException if the schema is missing or older than this version
   */
  public void require(Connection connection) throws SQLException {
    Map<String, Applied> applied = history(connection);
    if (applied.isEmpty()) {
      throw new PostriderException(Advice.migrate(schema, "is missing"));
    }
    List<String> missing = missing(applied);
    if (!missing.isEmpty()) {
      throw new PostriderException(
          Advice.migrate(
              schema,
              "is older than this version of Postrider: it lacks " + String.join(", ", missing)));
    }
    List<String> later =
        applied.entrySet().stream()
            .filter(file -> file.getValue().later() || !known(file.getKey()))
            .map(Map.Entry::getKey)
            .sorted()
            .toList();
    if (!later.isEmpty()) {
      log.warn("{}", LogLine.of("outbox_schema_newer").put("files", String.join(",", later)));
    }
  }

  /** All of it as one script, for people whose DBAs run it. Running it twice changes nothing. */
  public String script() {
    return "begin;\n" + schema.sql(BEGIN) + upgrade() + "commit;\n";
  }

  private String upgrade() {
    StringBuilder out = new StringBuilder();
    for (String file : SchemaFiles.TABLES) {
      String text = schema.sql(SchemaFiles.table(file));
      out.append(
          schema.sql(
              GUARDED.formatted(
                  file,
                  changed(file),
                  SchemaFiles.quoted(file, text),
                  SchemaFiles.checksum(text))));
    }
    String files =
        SchemaFiles.FUNCTIONS.stream()
            .map(file -> SchemaFiles.quoted(file, SchemaFiles.function(file)))
            .collect(Collectors.joining(",\n"));
    String replace =
        SchemaFiles.read("functions.sql")
            .replace("CHECKSUM", functionsChecksum())
            .replace("VERSION", Version.current())
            .replace("FILES", files);
    return out.append("\n")
        .append(schema.sql(replace))
        .append("\n")
        .append(new Roles(schema).grants())
        .toString();
  }

  /** What the database lacks. The table files that it has must be the same as ours. */
  private List<String> missing(Connection connection) throws SQLException {
    Map<String, Applied> history = history(connection);
    for (String file : SchemaFiles.TABLES) {
      Applied applied = history.get(file);
      if (applied != null
          && !applied
              .checksum()
              .equals(SchemaFiles.checksum(schema.sql(SchemaFiles.table(file))))) {
        throw new PostriderException(changed(file));
      }
    }
    return missing(history);
  }

  private List<String> missing(Map<String, Applied> applied) {
    List<String> missing = new ArrayList<>(SchemaFiles.TABLES);
    missing.removeAll(applied.keySet());
    Applied functions = applied.get(FUNCTIONS);
    if (functions == null
        || (!functions.later() && !functions.checksum().equals(functionsChecksum()))) {
      missing.add(FUNCTIONS);
    }
    return missing;
  }

  private static boolean known(String file) {
    return file.equals(FUNCTIONS) || SchemaFiles.TABLES.contains(file);
  }

  private static String functionsChecksum() {
    return SchemaFiles.checksum(
        SchemaFiles.FUNCTIONS.stream()
            .map(SchemaFiles::function)
            .collect(Collectors.joining("\n")));
  }

  private static String changed(String file) {
    return "migration "
        + file
        + " was applied with other contents than this version has; the schema was changed by hand"
        + " or by another version of Postrider";
  }

  private Map<String, Applied> history(Connection connection) throws SQLException {
    Map<String, Applied> history = new HashMap<>();
    if (!exists(connection)) {
      return history;
    }
    try (PreparedStatement select =
        connection.prepareStatement(
            schema.sql(
                """
                select file, checksum,
                       string_to_array(split_part(version, '-', 1), '.')::int[]
                         > string_to_array(split_part(?, '-', 1), '.')::int[]
                  from postrider.migration order by file
                """))) {
      select.setString(1, Version.current());
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          history.put(rows.getString(1), new Applied(rows.getString(2), rows.getBoolean(3)));
        }
      }
    }
    return history;
  }

  private boolean exists(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                schema.sql("select pg_catalog.to_regclass('postrider.migration') is not null"))) {
      return row.next() && row.getBoolean(1);
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /**
   * What the database says of a file.
   *
   * @param later functions of a later version of Postrider
   */
  private record Applied(String checksum, boolean later) {}
}

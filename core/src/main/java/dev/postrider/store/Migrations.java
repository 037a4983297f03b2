package dev.postrider.store;

import dev.postrider.message.PostriderException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates and upgrades the schema from numbered files, each applied once, all in one transaction.
 * Safe to run from many processes at once: they queue on a lock. Where nothing is missing it only
 * reads, so that a service may call it at every start with a role that cannot change the schema.
 * Run {@link Roles} again after an upgrade. Thread-safe.
 */
public final class Migrations {
  private static final Logger log = LoggerFactory.getLogger(Migrations.class);

  private static final List<String> FILES =
      List.of(
          "V001__tables.sql",
          "V002__enqueue.sql",
          "V003__claim.sql",
          "V004__settle.sql",
          "V005__views.sql",
          "V006__partitions.sql",
          "V007__operate.sql",
          "V008__replay.sql",
          "V009__archive.sql",
          "V010__backlog.sql",
          "V011__operators.sql",
          "V012__tokens.sql",
          "V013__stream.sql",
          "V014__fleet.sql",
          "V015__retention.sql");

  /**
   * Names in the files mean the server's own functions, whatever others have made in {@code
   * public}. Then one at a time: who creates the table at the same moment as another waits for its
   * commit.
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
          applied_at timestamptz not null default now()
        );
      exception when unique_violation or duplicate_schema or duplicate_table then
        null;
      end $begin$;
      lock table postrider.migration in share row exclusive mode;
      """;

  /**
   * PostgreSQL lets everyone execute a new function. Default privileges could not prevent that for
   * one schema only, so it is taken back after each upgrade.
   */
  private static final String CLOSE = "revoke all on all functions in schema postrider from public";

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
      // Whoever waited for the lock must see what its holder has done.
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      try {
        List<String> applied = missing(connection).isEmpty() ? List.of() : upgrade(connection);
        connection.commit();
        return applied;
      } catch (SQLException | RuntimeException e) {
        connection.rollback();
        throw e;
      }
    }
  }

  /**
   * What {@link #apply} would do; reads only.
   *
   * @throws PostriderException if what was applied has other contents than this version's
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
    Set<String> applied = history(connection).keySet();
    List<String> missing = FILES.stream().filter(file -> !applied.contains(file)).toList();
    if (applied.isEmpty()) {
      throw new PostriderException(Advice.migrate(schema, "is missing"));
    } else if (!missing.isEmpty()) {
      throw new PostriderException(
          Advice.migrate(
              schema,
              "is older than this version of Postrider: it lacks " + String.join(", ", missing)));
    }
    List<String> later = applied.stream().filter(file -> !FILES.contains(file)).sorted().toList();
    if (!later.isEmpty()) {
      log.warn("event=outbox_schema_newer files={}", String.join(",", later));
    }
  }

  private List<String> upgrade(Connection connection) throws SQLException {
    execute(connection, schema.sql(BEGIN));
    List<String> missing = missing(connection);
    for (String file : missing) {
      String text = schema.sql(read(file));
      execute(connection, text);
      record(connection, file, checksum(text));
    }
    execute(connection, schema.sql(CLOSE));
    return missing;
  }

  /** What the database lacks of our files; those it has must be the same as ours. */
  private List<String> missing(Connection connection) throws SQLException {
    Map<String, String> history = history(connection);
    List<String> missing = new ArrayList<>();
    for (String file : FILES) {
      String known = history.get(file);
      if (known == null) {
        missing.add(file);
      } else if (!known.equals(checksum(schema.sql(read(file))))) {
        throw new PostriderException(changed(file));
      }
    }
    return missing;
  }

  private static String changed(String file) {
    return "migration "
        + file
        + " was applied with other contents than this version has; the schema was changed by hand"
        + " or by another version of Postrider";
  }

  /**
   * The whole of it as one script, for people whose DBAs run it; running it twice changes nothing.
   */
  public String script() {
    StringBuilder out = new StringBuilder("begin;\n");
    out.append(BEGIN);
    for (String file : FILES) {
      out.append(
          GUARDED.formatted(file, changed(file), quoted(file), checksum(schema.sql(read(file)))));
    }
    return schema.sql(out.append(CLOSE).append(";\ncommit;\n").toString());
  }

  /** The file as a string constant whose tag occurs nowhere in it. */
  private static String quoted(String file) {
    String tag = "$" + file.substring(0, 4) + "$";
    return tag + "\n" + read(file) + tag;
  }

  private Map<String, String> history(Connection connection) throws SQLException {
    Map<String, String> history = new HashMap<>();
    if (!exists(connection)) {
      return history;
    }
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                schema.sql("select file, checksum from postrider.migration order by file"))) {
      while (rows.next()) {
        history.put(rows.getString(1), rows.getString(2));
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

  private void record(Connection connection, String file, String checksum) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            schema.sql("insert into postrider.migration (file, checksum) values (?, ?)"))) {
      insert.setString(1, file);
      insert.setString(2, checksum);
      insert.executeUpdate();
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String read(String file) {
    try (InputStream in = Migrations.class.getResourceAsStream("migrations/" + file)) {
      if (in == null) {
        throw new PostriderException("migration " + file + " is missing from the jar");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new PostriderException("migration " + file + " cannot be read", e);
    }
  }

  private static String checksum(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}

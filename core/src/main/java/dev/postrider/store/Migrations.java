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
import javax.sql.DataSource;

/**
 * Creates and upgrades the schema from numbered files, each applied once and in its own
 * transaction. Safe to run from many processes at once: they queue on an advisory lock.
 * Thread-safe.
 */
public final class Migrations {
  private static final List<String> FILES =
      List.of(
          "V001__tables.sql",
          "V002__enqueue.sql",
          "V003__claim.sql",
          "V004__settle.sql",
          "V005__views.sql",
          "V007__operate.sql",
          "V008__replay.sql");

  private static final String CREATE_HISTORY =
      """
      create schema if not exists postrider;
      create table if not exists postrider.migration (
        file       text primary key,
        checksum   text not null,
        applied_at timestamptz not null default now()
      );
      """;

  private final Schema schema;

  public Migrations(Schema schema) {
    this.schema = schema;
  }

  /** Applies what is missing; returns the files applied by this call. */
  public List<String> apply(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      List<String> applied = new ArrayList<>();
      try {
        lock(connection);
        execute(connection, schema.sql(CREATE_HISTORY));
        Map<String, String> history = history(connection);
        for (String file : FILES) {
          String text = schema.sql(read(file));
          String checksum = checksum(text);
          String known = history.get(file);
          if (known == null) {
            execute(connection, text);
            record(connection, file, checksum);
            applied.add(file);
          } else if (!known.equals(checksum)) {
            throw new PostriderException(
                "migration "
                    + file
                    + " was applied with other contents than this version has; the schema was"
                    + " changed by hand or by another version of Postrider");
          }
        }
        connection.commit();
      } catch (SQLException | RuntimeException e) {
        connection.rollback();
        throw e;
      }
      return applied;
    }
  }

  /**
   * The whole of it as one script, for people whose DBAs run it; running it twice changes nothing.
   */
  public String script() {
    StringBuilder out = new StringBuilder("begin;\n");
    out.append(schema.sql("select pg_advisory_xact_lock(hashtext('postrider.migration'));\n"));
    out.append(schema.sql(CREATE_HISTORY));
    for (String file : FILES) {
      String text = schema.sql(read(file));
      String tag = "$" + file.substring(0, 4) + "$";
      out.append("\n-- ").append(file).append('\n');
      out.append("do $guard$\nbegin\n  if not exists (select from ")
          .append(schema.name())
          .append(".migration where file = '")
          .append(file)
          .append("') then\n    execute ")
          .append(tag)
          .append('\n')
          .append(text)
          .append(tag)
          .append(";\n    insert into ")
          .append(schema.name())
          .append(".migration (file, checksum) values ('")
          .append(file)
          .append("', '")
          .append(checksum(text))
          .append("');\n  end if;\nend $guard$;\n");
    }
    return out.append("commit;\n").toString();
  }

  private void lock(Connection connection) throws SQLException {
    execute(
        connection, schema.sql("select pg_advisory_xact_lock(hashtext('postrider.migration'))"));
  }

  private Map<String, String> history(Connection connection) throws SQLException {
    Map<String, String> history = new HashMap<>();
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

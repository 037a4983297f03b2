package dev.postrider.testing;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Counts the pages that a statement touches, those of the functions it calls included. */
public final class Pages {
  private static final Pattern BUFFERS = Pattern.compile("Buffers: shared(.*)");
  private static final Pattern TOUCHED = Pattern.compile("(?:hit|read)=(\\d+)");

  private Pages() {}

  /**
   * In a session that knows the statement: what the first call reads of the catalog is left out.
   */
  public static long touched(TestDatabase database, String sql) throws SQLException {
    try (Connection connection = database.transaction()) {
      touched(connection, sql);
      connection.rollback();
      long pages = touched(connection, sql);
      connection.commit();
      return pages;
    }
  }

  public static long touched(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet plan = statement.executeQuery("explain (analyze, buffers, timing off) " + sql)) {
      while (plan.next()) {
        Matcher buffers = BUFFERS.matcher(plan.getString(1));
        if (buffers.find()) {
          return sum(TOUCHED.matcher(buffers.group(1)));
        }
      }
      return 0;
    }
  }

  private static long sum(Matcher numbers) {
    long sum = 0;
    while (numbers.find()) {
      sum += Long.parseLong(numbers.group(1));
    }
    return sum;
  }
}

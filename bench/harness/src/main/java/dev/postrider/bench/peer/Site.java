package dev.postrider.bench.peer;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The database that everybody is measured on. Immutable; each call connects anew. */
public record Site(String url) {

  /** The same, with commits that do not wait for the disk: for what is not measured. */
  Site relaxed() {
    return new Site(url + "&options=-c%20synchronous_commit=off");
  }

  /** A pool whose connections are all open, as in a service that has run for a while. */
  public HikariDataSource pool(int size) throws InterruptedException {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(size);
    HikariDataSource pool = new HikariDataSource(config);
    long deadline = System.nanoTime() + 30_000_000_000L;
    while (pool.getHikariPoolMXBean().getTotalConnections() < size) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("no " + size + " connections to be had in 30 s");
      }
      Thread.sleep(5);
    }
    return pool;
  }

  /** Without a pool. */
  public DataSource dataSource() {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(url);
    return dataSource;
  }

  public void execute(String sql) throws SQLException {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  public boolean isTrue(String sql) throws SQLException {
    try (Connection connection = dataSource().getConnection()) {
      return isTrue(connection, sql);
    }
  }

  static boolean isTrue(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() && row.getBoolean(1);
    }
  }
}

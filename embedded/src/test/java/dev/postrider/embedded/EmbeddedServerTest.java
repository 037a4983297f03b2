package dev.postrider.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedServerTest {

  @Test
  void startsADurablePostgres18() throws SQLException {
    Path data;
    try (EmbeddedServer server = EmbeddedServer.start()) {
      data = server.dataDirectory();
      assertThat(query(server, "SELECT version()")).startsWith("PostgreSQL 18");
      assertThat(query(server, "SHOW fsync")).isEqualTo("on");
      assertThat(query(server, "SHOW synchronous_commit")).isEqualTo("on");
    }
    assertThat(data).doesNotExist();
  }

  @Test
  void keepsDataAndPortAcrossRestartStopAndKill() throws SQLException {
    try (EmbeddedServer server = EmbeddedServer.start()) {
      int port = server.port();
      execute(server, "CREATE TABLE t AS SELECT 1 AS n");
      server.restart();
      execute(server, "INSERT INTO t VALUES (2)");
      server.stopImmediately();
      server.restart();
      execute(server, "INSERT INTO t VALUES (3)");
      server.kill();
      assertThat(server.isRunning()).isFalse();
      assertThatThrownBy(() -> query(server, "SELECT 1")).isInstanceOf(SQLException.class);
      server.restart();
      assertThat(query(server, "SELECT sum(n) FROM t")).isEqualTo("6");
      assertThat(server.port()).isEqualTo(port);
    }
  }

  @Test
  void takesOverFromAServerLeftBehind(@TempDir Path directory) throws SQLException {
    EmbeddedServer.Builder builder = EmbeddedServer.builder().dataDirectory(directory);
    try (EmbeddedServer left = builder.closeAtExit(false).start()) {
      execute(left, "CREATE TABLE t AS SELECT 7 AS n");
      try (EmbeddedServer server = builder.start()) {
        assertThat(query(server, "SELECT n FROM t")).isEqualTo("7");
        assertThat(server.port()).isNotEqualTo(left.port());
      }
    }
  }

  @Test
  void keepsAGivenDataDirectoryAndAppliesParameters(@TempDir Path directory) throws SQLException {
    EmbeddedServer.Builder builder =
        EmbeddedServer.builder()
            .dataDirectory(directory.resolve("data"))
            .parameter("fsync", "off")
            .parameter("application_name", "it's a test");
    try (EmbeddedServer server = builder.start()) {
      assertThat(query(server, "SHOW fsync")).isEqualTo("off");
      execute(server, "CREATE TABLE t AS SELECT 1 AS n");
    }
    try (EmbeddedServer server = builder.start()) {
      assertThat(query(server, "SELECT n FROM t")).isEqualTo("1");
    }
  }

  @Test
  void saysWhyItDidNotStart() {
    EmbeddedServer.Builder builder = EmbeddedServer.builder().parameter("no_such_parameter", "on");
    assertThatThrownBy(builder::start).hasMessageContaining("no_such_parameter");
  }

  @Test
  void onlyThePasswordOpensIt(@TempDir Path directory) throws Exception {
    Path data = directory.resolve("data");
    EmbeddedServer.Builder builder = EmbeddedServer.builder().dataDirectory(data);
    try (EmbeddedServer server = builder.start()) {
      String bare = server.jdbcUrl().replaceAll("&password=.*", "");
      for (String url : List.of(bare, bare + "&password=postgres")) {
        assertThatThrownBy(() -> DriverManager.getConnection(url).close())
            .isInstanceOf(SQLException.class)
            .hasMessageContaining("password");
      }
      assertThat(
              PosixFilePermissions.toString(Files.getPosixFilePermissions(server.passwordFile())))
          .isEqualTo("rw-------");
      assertThat(
              query(server, "SELECT count(*) FROM pg_hba_file_rules WHERE auth_method = 'trust'"))
          .isEqualTo("0");
    }
    Files.delete(data.resolve("pgpass"));
    assertThatThrownBy(builder::start)
        .hasMessageContaining("pgpass is missing")
        .hasMessageContaining("Restore the file, or remove the data folder");
  }

  private static void execute(EmbeddedServer server, String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(server.jdbcUrl());
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String query(EmbeddedServer server, String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(server.jdbcUrl());
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getString(1);
    }
  }
}

package dev.postrider.spring.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import liquibase.Contexts;
import liquibase.Liquibase;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.DirectoryResourceAccessor;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Flyway and Liquibase run the script of the schema, as docs/spring.md says. */
@Tag("OP-5")
class MigrationToolsTest {
  private static final TestPostgres DATABASE = TestPostgres.start();
  private static final Migrations MIGRATIONS = new Migrations(Schema.DEFAULT);

  @TempDir Path folder;

  @BeforeEach
  void empty() {
    DATABASE.execute("drop schema if exists postrider cascade");
    DATABASE.execute("drop schema public cascade; create schema public");
  }

  /** The first one makes the tables, the second one finds them. */
  private void scripts(String first, String second) throws Exception {
    Files.writeString(folder.resolve(first), MIGRATIONS.script());
    Files.writeString(folder.resolve(second), MIGRATIONS.script());
  }

  private static void assertUsable() throws Exception {
    assertThat(MIGRATIONS.pending(DATABASE.dataSource())).isEmpty();
    DATABASE.execute("select postrider.enqueue('shop', 'orders', '7')");
    assertThat(DATABASE.count("select count(*) from postrider.message")).isEqualTo(1);
  }

  @Test
  void flyway() throws Exception {
    scripts("V12__postrider.sql", "V13__postrider.sql");
    Flyway.configure()
        .dataSource(DATABASE.dataSource())
        .locations("filesystem:" + folder)
        .load()
        .migrate();
    assertThat(DATABASE.column("select version from flyway_schema_history order by version"))
        .containsExactly("12", "13");
    assertUsable();
  }

  @Test
  void liquibase() throws Exception {
    scripts("postrider-1.sql", "postrider-2.sql");
    Files.writeString(
        folder.resolve("changes.xml"),
        """
        <databaseChangeLog xmlns="http://www.liquibase.org/xml/ns/dbchangelog"
            xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
            xsi:schemaLocation="http://www.liquibase.org/xml/ns/dbchangelog
                http://www.liquibase.org/xml/ns/dbchangelog/dbchangelog-latest.xsd">
          <changeSet id="1" author="shop">
            <sqlFile path="postrider-1.sql" splitStatements="false"/>
          </changeSet>
          <changeSet id="2" author="shop">
            <sqlFile path="postrider-2.sql" splitStatements="false"/>
          </changeSet>
        </databaseChangeLog>
        """);
    try (Connection connection = DATABASE.dataSource().getConnection();
        DirectoryResourceAccessor files = new DirectoryResourceAccessor(folder);
        Liquibase liquibase =
            new Liquibase(
                "changes.xml",
                files,
                DatabaseFactory.getInstance()
                    .findCorrectDatabaseImplementation(new JdbcConnection(connection)))) {
      liquibase.update(new Contexts());
    }
    assertThat(DATABASE.column("select id from databasechangelog order by id"))
        .containsExactly("1", "2");
    assertUsable();
  }
}

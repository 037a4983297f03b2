package dev.postrider.spring;

import dev.postrider.internal.text.LogLine;
import dev.postrider.message.PostriderException;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The outbox's tables in one DataSource, made or checked before anything uses them. Immutable. */
record OutboxSchema(DataSource dataSource, Schema schema) {
  private static final Logger log = LoggerFactory.getLogger(OutboxSchema.class);
  private static final String NOT_ALLOWED = "42501";

  /** Creates or upgrades the tables, or fails if they are missing and may not be made. */
  static OutboxSchema ready(DataSource dataSource, Schema schema, boolean migrate) {
    Migrations migrations = new Migrations(schema);
    try {
      requirePostgres(dataSource);
      if (migrate) {
        migrations.apply(dataSource);
      } else {
        try (Connection connection = dataSource.getConnection()) {
          migrations.require(connection);
        }
      }
      return new OutboxSchema(dataSource, schema);
    } catch (StartException e) {
      throw e;
    } catch (PostriderException e) {
      throw new StartException(String.valueOf(e.getMessage()), action(schema, migrate), e);
    } catch (SQLException e) {
      if (!migrate && NOT_ALLOWED.equals(e.getSQLState())) {
        log.info("{}", LogLine.of("outbox_schema_unchecked").put("reason", e.getMessage()));
        return new OutboxSchema(dataSource, schema); // a login that may only publish
      }
      throw new StartException(
          "The outbox's schema \"%s\" could not be %s: %s"
              .formatted(schema.name(), migrate ? "migrated" : "checked", e.getMessage()),
          action(schema, migrate),
          e);
    }
  }

  private static void requirePostgres(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      String product = connection.getMetaData().getDatabaseProductName();
      if (!product.equals("PostgreSQL")) {
        throw new StartException(
            "The DataSource of the outbox is on %s. Postrider needs PostgreSQL.".formatted(product),
            "Set spring.datasource.url to a PostgreSQL database. In a test that replaces the"
                + " DataSource, such as @DataJpaTest, add"
                + " @AutoConfigureTestDatabase(replace = Replace.NONE). If the application has a"
                + " PostgreSQL DataSource too, name its bean in postrider.data-source. Without an"
                + " outbox, set postrider.enabled=false.");
      }
    }
  }

  private static String action(Schema schema, boolean migrate) {
    return migrate
        ? "Check the database that the DataSource names and the privileges of its login. If the"
            + " login may not create tables, let its owner run the script of"
            + " new Migrations(new Schema(\"%s\")).script(), and set postrider.migrate=false."
                .formatted(schema.name())
        : "Set postrider.migrate=true, or run ./postrider migrate, or add the script that"
            + " ./postrider migrate --print writes (in Java: new Migrations(new"
            + " Schema(\"%s\")).script()) to your Flyway or Liquibase changes."
                .formatted(schema.name());
  }
}

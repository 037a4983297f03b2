package dev.postrider.cli.doctor;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.schema.Schema;
import javax.sql.DataSource;

/**
 * The database to check.
 *
 * @param direct around a pooler, if there is one
 */
public record CheckedDatabase(DataSource dataSource, DataSource direct, Schema schema) {
  Database database() {
    return new Database(dataSource, schema);
  }
}

package dev.postrider.cli.doctor;

import dev.postrider.store.Database;
import dev.postrider.store.Schema;
import javax.sql.DataSource;

/**
 * The database that is looked at.
 *
 * @param direct around a pooler, if there is one
 */
public record Patient(DataSource dataSource, DataSource direct, Schema schema) {
  Database database() {
    return new Database(dataSource, schema);
  }
}

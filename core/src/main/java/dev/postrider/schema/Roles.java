package dev.postrider.schema;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Five roles, none of which can log in or write to a table: a service's own login is made a member
 * of the one it needs ({@code grant postrider_producer to shop}).
 *
 * <ul>
 *   <li>producer: may enqueue, and read nothing
 *   <li>relay: may claim, settle and keep leases, remove what is past its retention, and read what
 *       steers it; payloads only by a claim; record what it serves, and check the token of a caller
 *       who reads its metrics
 *   <li>operator: may read everything and act through the operators' functions
 *   <li>reader: may read everything
 *   <li>server: may do what producers and operators may, and make and check tokens
 * </ul>
 *
 * <p>Writing happens only inside functions that run as the schema's owner, so nobody but the owner
 * can change a message or an attempt. The script may be run again at any time; it takes back what a
 * role has too much. An upgrade by {@link Migrations} brings the grants of existing roles up to
 * date. Roles belong to the whole cluster: those that exist are used as they are, so an
 * administrator may make them beforehand. Thread-safe.
 */
public final class Roles {
  private final Schema schema;

  public Roles(Schema schema) {
    this.schema = schema;
  }

  /** The script, for people whose DBAs run it: as the schema's owner, who may create roles. */
  public String script() {
    return named(SchemaFiles.read("roles.sql")) + grants();
  }

  /** The grants of the roles that may use the schema. */
  String grants() {
    return named(SchemaFiles.read("grants.sql"));
  }

  private String named(String text) {
    return schema.sql(text).replace("ROLE_", schema.name() + "_");
  }

  /** Runs the script; it takes effect at once or with the connection's transaction. */
  public void apply(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(script());
    }
  }
}

package dev.postrider.operations;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Stops destinations, topics and subscriptions, and lets them go on. Relays see it within a second;
 * messages stay pending meanwhile. Thread-safe if the data source is.
 */
public final class Pauses {
  private static final String LIST =
      "select kind, name, paused_by, paused_at from postrider.pause order by kind, name limit 1000";
  private static final String PAUSE = "select postrider.pause_on(?, ?, ?, ?)";
  private static final String RESUME = "select postrider.pause_off(?, ?, ?)";

  private final Database database;

  /** What can be paused. */
  public enum Kind {
    /** By its name. */
    DESTINATION,
    /** As {@code namespace/topic}. */
    TOPIC,
    /** As {@code namespace/topic#name}; that of the default subscription is {@code default}. */
    SUBSCRIPTION;

    private String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Something paused. Immutable. */
  public record Pause(Kind kind, String name, String pausedBy, Instant pausedAt) {}

  public Pauses(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /** What is paused now, the first thousand by name. */
  public List<Pause> list() throws SQLException {
    return database.list(LIST, Pauses::pause);
  }

  /**
   * Returns whether it was not paused yet.
   *
   * @throws RefusedException for a destination that no relay has served within the last day
   */
  public boolean pause(String actor, Kind kind, String name) throws SQLException {
    return pause(actor, kind, name, false);
  }

  /**
   * Returns whether it was not paused yet.
   *
   * @param force pauses a destination even if no relay knows it
   */
  public boolean pause(String actor, Kind kind, String name, boolean force) throws SQLException {
    return database.one(PAUSE, row -> row.getBoolean(1), actor, kind.word(), name, force);
  }

  /** Returns whether it was paused. */
  public boolean resume(String actor, Kind kind, String name) throws SQLException {
    return database.one(RESUME, row -> row.getBoolean(1), actor, kind.word(), name);
  }

  private static Pause pause(ResultSet row) throws SQLException {
    return new Pause(
        Kind.valueOf(row.getString("kind").toUpperCase(Locale.ROOT)),
        row.getString("name"),
        row.getString("paused_by"),
        Objects.requireNonNull(Database.instant(row, "paused_at")));
  }
}

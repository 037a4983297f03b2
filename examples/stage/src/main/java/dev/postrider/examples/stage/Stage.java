package dev.postrider.examples.stage;

import dev.postrider.embedded.EmbeddedServer;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A database with Postrider's tables and the example's own, and a time to run: until the seconds
 * are over or Ctrl-C. Thread-safe.
 */
public final class Stage implements AutoCloseable {
  /** What an example does on its stage. */
  @FunctionalInterface
  public interface Show {
    void play(Stage stage) throws Exception;
  }

  private final Options options;
  private final @Nullable EmbeddedServer server;
  private final String url;
  private final Ending ending;
  private volatile long start;
  private volatile long end;

  private Stage(Options options, Ending ending) {
    this.options = options;
    this.ending = ending;
    // Not closed at exit by itself: after Ctrl-C the example still finishes what it began.
    this.server =
        options.text("url").isEmpty() ? EmbeddedServer.builder().closeAtExit(false).start() : null;
    this.url = server == null ? options.text("url") : server.jdbcUrl();
  }

  /**
   * Runs an example; its tables are in {@code schema.sql} beside the class.
   *
   * @param own the example's own options with their defaults
   */
  public static void run(Class<?> example, String[] arguments, Map<String, String> own, Show show)
      throws Exception {
    Ending ending = Ending.install();
    try (Stage stage = new Stage(Options.parse(arguments, own), ending)) {
      stage.connect();
      createTables(stage.dataSource(), example);
      stage.begin();
      show.play(stage);
    } catch (WrongOptionException e) {
      System.err.println("wrong option: " + e.getMessage());
      ending.finished();
      System.exit(2);
    } catch (RuntimeException e) {
      if (!ending.isAsked(0)) { // Ctrl-C reaches the server as well, while it starts
        throw e;
      }
    } finally {
      ending.finished();
    }
  }

  /** The time to run counts from now, for shows that take a while to get ready. */
  public void begin() {
    start = System.nanoTime();
    end = start + TimeUnit.SECONDS.toNanos(options.number("seconds", 1, 86_400));
  }

  private void connect() {
    try (Connection connection = dataSource().getConnection()) {
      connection.isValid(5);
    } catch (SQLException e) {
      throw new WrongOptionException(
          "expected a database that can be reached after --url: " + e.getMessage());
    }
  }

  /** Creates Postrider's tables and those of the example, unless they are there. */
  public static void createTables(DataSource dataSource, Class<?> example)
      throws SQLException, IOException {
    new Migrations(Schema.DEFAULT).apply(dataSource);
    try (InputStream file = example.getResourceAsStream("schema.sql");
        Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      if (file == null) {
        throw new IOException("there is no schema.sql beside " + example.getName());
      }
      statement.execute(new String(file.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  public Options options() {
    return options;
  }

  public String url() {
    return url;
  }

  public DataSource dataSource() {
    return dataSource(url);
  }

  /** Opens a connection each time; a service would have a pool. */
  public static DataSource dataSource(String url) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    try {
      dataSource.setUrl(url);
    } catch (IllegalArgumentException e) {
      // Its message holds the URL, and that may hold a password.
      throw new WrongOptionException(
          "expected a URL like jdbc:postgresql://host/database?user=name after --url");
    }
    return dataSource;
  }

  /** Waits; false when it is time to come to an end. */
  public boolean goesOn(Duration pause) throws InterruptedException {
    long left = Math.min(pause.toNanos(), end - System.nanoTime());
    return !ending.isAsked(Math.max(left, 0)) && System.nanoTime() < end;
  }

  /** Whether somebody pressed Ctrl-C: finish what was begun, and begin nothing more. */
  public boolean isStopped() throws InterruptedException {
    return ending.isAsked(0);
  }

  /** Prints a line with the seconds since the start. */
  public void say(String format, Object... arguments) {
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        Locale.ROOT, "%5.1f s  %s%n", seconds, String.format(Locale.ROOT, format, arguments));
  }

  /** The only value of the only row, a number. */
  public long count(String sql) throws SQLException {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Waits until a count is zero, Ctrl-C or not; false if it takes too long. */
  public boolean untilNone(String sql) throws SQLException, InterruptedException {
    long latest = System.nanoTime() + Ending.PATIENCE.toNanos() / 2;
    while (count(sql) > 0) {
      if (System.nanoTime() > latest) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    return true;
  }

  @Override
  public void close() {
    if (server != null) {
      server.close();
    }
  }
}

package dev.postrider.server.console;

import dev.postrider.internal.monitor.Fleet;
import dev.postrider.observe.Backlog;
import dev.postrider.schema.Schema;
import dev.postrider.server.access.Access;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import javax.sql.DataSource;

/** The console's part of the API: sessions, and what it shows live. Thread-safe. */
public final class ConsoleFeature implements Feature {
  private final Live live;
  private final SessionEndpoints sessions;

  /**
   * @param doctor looks at the database; called once a minute while a console is open
   */
  public ConsoleFeature(
      DataSource dataSource,
      Schema schema,
      Access access,
      SignInCodes codes,
      Callable<List<Warning>> doctor) {
    this.live = new Live(dataSource, schema, doctor);
    this.sessions = new SessionEndpoints(access, codes);
  }

  @Override
  public List<Endpoint> endpoints() {
    List<Endpoint> all = new ArrayList<>(sessions.list());
    all.add(live.endpoint());
    return List.copyOf(all);
  }

  public void start() {
    live.start();
  }

  /** The backlog was read. */
  public void beat(Backlog backlog, Fleet.State fleet) {
    live.beat(backlog, fleet);
  }

  @Override
  public void close() {
    live.close();
  }
}

package dev.postrider.bench.limit;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Payload;
import dev.postrider.bench.peer.Peer;
import dev.postrider.bench.peer.Site;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;

/** A bare table and plain JDBC; what is written and what handling means differ. */
abstract class Limit implements Peer {
  private static final int CONNECTIONS = 16;
  private static final String TABLES =
      """
      drop table if exists plain_outbox;
      create table plain_outbox (
        id uuid primary key default uuidv7(), topic text not null, payload text not null);
      """;
  private static final String LOAD =
      "insert into plain_outbox (topic, payload) select 'orders', %s from generate_series(1, %d) g";

  /** What is written beside the business insert. */
  abstract void write(Connection connection, Order order) throws SQLException;

  /** What handling is; returns at once, and stops when interrupted. */
  abstract Thread handling(Site site, Consumer<String> handler);

  @Override
  public void install(Site site) throws Exception {
    site.execute(TABLES);
  }

  @Override
  public String idle() {
    return "select true";
  }

  @Override
  public void load(Site site, int count) throws Exception {
    site.execute(LOAD.formatted(Payload.SQL, count));
  }

  @Override
  public Session open(Site site, Role role, Consumer<String> handler) throws Exception {
    HikariDataSource pool = site.pool(role.produces() ? CONNECTIONS : 1);
    return new Running(this, pool, handling(site, handler));
  }

  private record Running(Limit limit, HikariDataSource pool, Thread handling) implements Session {
    @Override
    public void send(Order order) throws SQLException {
      try (Connection connection = pool.getConnection()) {
        connection.setAutoCommit(false);
        order.insert(connection);
        limit.write(connection, order);
        order.committing();
        connection.commit();
      }
    }

    @Override
    public void start() {
      handling.start();
    }

    @Override
    public void close() throws InterruptedException {
      handling.interrupt();
      handling.join(10_000);
      pool.close();
    }
  }
}

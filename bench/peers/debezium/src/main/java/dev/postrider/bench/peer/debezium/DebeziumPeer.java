package dev.postrider.bench.peer.debezium;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Payload;
import dev.postrider.bench.peer.Peer;
import dev.postrider.bench.peer.Site;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The outbox table of the event router's documentation. Producers insert a row and delete it again,
 * both in one round trip, so that the table stays empty; only inserts are published. Needs a server
 * with wal_level=logical.
 */
public final class DebeziumPeer implements Peer {
  static final String SLOT = "bench_outbox";

  private static final int PRODUCERS_MAX = 16;
  private static final int CHUNK = 1_000;

  private static final String TABLES =
      """
      drop publication if exists bench_outbox;
      drop table if exists outbox_event;
      create table outbox_event (
        id uuid primary key, aggregatetype varchar(255) not null, aggregateid varchar(255) not null,
        type varchar(255) not null, payload text);
      create publication bench_outbox for table outbox_event with (publish = 'insert');
      """;

  private static final String DROP_SLOT =
      "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '%s'"
          .formatted(SLOT);

  private static final String WRITE =
      """
      insert into outbox_event (id, aggregatetype, aggregateid, type, payload)
      values (?, 'order', ?, 'placed', ?);
      delete from outbox_event where id = ?
      """;

  private static final String LOAD =
      """
      insert into outbox_event
      select gen_random_uuid(), 'order', g::text, 'placed', %s from generate_series(%d, %d) g;
      delete from outbox_event;
      """;

  /** Beside the slot; survives sessions, not the process. */
  private final Path offsets;

  public DebeziumPeer() throws IOException {
    this.offsets = Files.createTempFile("bench-debezium", ".offsets");
    offsets.toFile().deleteOnExit();
  }

  @Override
  public void install(Site site) throws Exception {
    site.execute(DROP_SLOT);
    site.execute(TABLES);
    Files.write(offsets, new byte[0]);
  }

  /** There is no table to look at: the handler has got everything or not. */
  @Override
  public String idle() {
    return "select true";
  }

  /** The slot must be there before the messages are. */
  @Override
  public void load(Site site, int count) throws Exception {
    try (Engine engine = new Engine(site, offsets, payload -> {})) {
      engine.start();
    }
    for (int from = 1; from <= count; from += CHUNK) {
      site.execute(LOAD.formatted(Payload.SQL, from, Math.min(count, from + CHUNK - 1)));
    }
  }

  @Override
  public Session open(Site site, Role role, Consumer<String> handler) throws Exception {
    HikariDataSource pool = site.pool(role.produces() ? PRODUCERS_MAX : 1);
    return new Running(pool, new Engine(site, offsets, handler));
  }

  private record Running(HikariDataSource pool, Engine engine) implements Session {
    @Override
    public void send(Order order) throws SQLException {
      try (Connection connection = pool.getConnection()) {
        connection.setAutoCommit(false);
        order.insert(connection);
        write(connection, order);
        order.committing();
        connection.commit();
      }
    }

    private static void write(Connection connection, Order order) throws SQLException {
      UUID id = UUID.randomUUID();
      try (PreparedStatement write = connection.prepareStatement(WRITE)) {
        write.setObject(1, id);
        write.setString(2, Long.toString(order.number()));
        write.setString(3, order.payload());
        write.setObject(4, id);
        write.execute();
      }
    }

    @Override
    public void start() throws Exception {
      engine.start();
    }

    @Override
    public void close() throws Exception {
      engine.close();
      pool.close();
    }
  }
}

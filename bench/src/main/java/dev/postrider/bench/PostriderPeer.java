package dev.postrider.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Peer;
import dev.postrider.bench.peer.Site;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Postrider in the harness of its peers: a relay with two carriers, everything else by default. */
public final class PostriderPeer implements Peer {
  private static final int PRODUCERS_MAX = 16;
  private static final int CARRIERS = 2;
  private static final long LISTENING_NANOS = 5_000_000_000L;
  private static final String TOPIC = "orders";

  @Override
  public void install(Site site) throws Exception {
    BenchDatabase.migrated(site.url());
    backlog(site).clear();
  }

  @Override
  public String idle() {
    return "select not exists (select 1 from postrider.queue)";
  }

  @Override
  public void load(Site site, int count) throws Exception {
    backlog(site).load(Shape.topic(TOPIC), count);
  }

  private static Backlog backlog(Site site) {
    return new Backlog(BenchDatabase.at(site.url()), Schema.DEFAULT);
  }

  @Override
  public Session open(Site site, Role role, Consumer<String> handler) throws Exception {
    return new Running(
        role.produces() ? site.pool(PRODUCERS_MAX) : null,
        Relay.builder(site.dataSource())
            .config(RelayConfig.defaults().withCarriers(CARRIERS))
            .destination(
                "here",
                HandlerDestination.inline(
                    message -> {
                      handler.accept(message.text());
                      return Outcome.delivered();
                    }))
            .route("bench", TOPIC, "here")
            .build());
  }

  private record Running(@Nullable HikariDataSource pool, Relay relay, Outbox outbox)
      implements Session {
    Running(@Nullable HikariDataSource pool, Relay relay) {
      this(pool, relay, new Outbox());
    }

    @Override
    public void send(Order order) throws SQLException {
      if (pool == null) {
        throw new IllegalStateException("opened to handle, not to produce");
      }
      try (Connection connection = pool.getConnection()) {
        connection.setAutoCommit(false);
        order.insert(connection);
        outbox.enqueue(connection, NewMessage.to("bench", TOPIC).json(order.payload()).build());
        order.committing();
        connection.commit();
      }
      relay.wake(); // does nothing unless it runs in this process
    }

    @Override
    public void start() {
      relay.start();
    }

    @Override
    public void awaitListening() {
      long deadline = System.nanoTime() + LISTENING_NANOS;
      while (!relay.status().listening() && System.nanoTime() < deadline) {
        LockSupport.parkNanos(1_000_000);
      }
    }

    @Override
    public void close() {
      relay.close();
      if (pool != null) {
        pool.close();
      }
    }
  }
}

package dev.postrider.bench.limit;

import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Site;
import java.sql.Connection;
import java.util.function.Consumer;

/** The business transaction without any message. Handles nothing. */
public final class BusinessAlone extends Limit {
  @Override
  void write(Connection connection, Order order) {}

  @Override
  Thread handling(Site site, Consumer<String> handler) {
    return new Thread(() -> {}, "idle");
  }
}

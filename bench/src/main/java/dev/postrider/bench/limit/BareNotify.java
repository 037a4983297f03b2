package dev.postrider.bench.limit;

import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Site;
import dev.postrider.wake.PromptSocketFactory;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Consumer;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** The payload in a NOTIFY, and nothing stored; handling is hearing it. */
public final class BareNotify extends Limit {
  private static final int WAIT_MILLIS = 100;

  @Override
  void write(Connection connection, Order order) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement("select pg_notify('bench', ?)")) {
      call.setString(1, order.payload());
      call.execute();
    }
  }

  @Override
  Thread handling(Site site, Consumer<String> handler) {
    return new Thread(() -> listen(site, handler), "listener");
  }

  private static void listen(Site site, Consumer<String> handler) {
    try (Connection connection = PromptSocketFactory.on(site.dataSource()).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("listen bench");
      PGConnection listening = connection.unwrap(PGConnection.class);
      while (!Thread.currentThread().isInterrupted()) {
        PGNotification[] heard = listening.getNotifications(WAIT_MILLIS);
        for (int i = 0; heard != null && i < heard.length; i++) {
          handler.accept(heard[i].getParameter());
        }
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}

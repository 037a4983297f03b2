package dev.postrider.cli.doctor;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Whether a NOTIFY arrives: through a pooler that shares connections it does not. */
final class ListenCheck {
  private static final int PATIENCE_MS = 2_000;

  private ListenCheck() {}

  static Finding look(CheckedDatabase checked) throws SQLException {
    String channel = "postrider_doctor_" + UUID.randomUUID().toString().replace('-', '_');
    try (Connection listener = checked.direct().getConnection();
        Connection sender = checked.dataSource().getConnection();
        Statement listen = listener.createStatement();
        Statement notify = sender.createStatement()) {
      listen.execute("listen " + channel);
      notify.execute("notify " + channel);
      PGNotification @Nullable [] heard =
          listener.unwrap(PGConnection.class).getNotifications(PATIENCE_MS);
      listen.execute("unlisten " + channel);
      return heard != null && heard.length > 0
          ? Finding.ok("listen", "notifications arrive")
          : Finding.note(
              "listen",
              "a notification did not arrive: relays will poll",
              "Behind a pooler set postrider.database.direct-url.");
    }
  }
}

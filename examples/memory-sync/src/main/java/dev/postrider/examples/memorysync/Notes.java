package dev.postrider.examples.memorysync;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;

/** Saves notes, each with a message to the space that it belongs to. Thread-safe. */
final class Notes {
  static final String NAMESPACE = "memory";

  private final DataSource dataSource;
  private final Outbox outbox = new Outbox();

  Notes(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /** The note and its message, or neither. */
  UUID save(String space, String body) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement insert =
            connection.prepareStatement("insert into logbook.note (space, body) values (?, ?)")) {
      connection.setAutoCommit(false);
      insert.setString(1, space);
      insert.setString(2, body);
      insert.executeUpdate();
      byte[] markdown = body.getBytes(StandardCharsets.UTF_8);
      UUID id =
          outbox
              .enqueue(
                  connection,
                  NewMessage.to(NAMESPACE, space).payload(markdown, "text/markdown").build())
              .id();
      connection.commit();
      return id;
    }
  }
}

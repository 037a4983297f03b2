package dev.postrider.examples.chat;

import dev.postrider.enqueue.Outbox;
import dev.postrider.internal.text.Json;
import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Route;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * What is said, and its history. A message and its event are one transaction, in which nothing is
 * sent to anybody. Thread-safe.
 */
final class ChatRooms {
  static final String NAMESPACE = "chat";
  static final String TOPIC = "messages";
  static final Route ROUTE = new Route(NAMESPACE, TOPIC);
  static final String AGGREGATE = "chat_session";
  static final String EVENT = "message_created";

  /** A session of a project: what keeps its order, and blocks no other. */
  record Room(String project, String session) {
    @Override
    public String toString() {
      return project + "/" + session;
    }
  }

  /** A message of the history; its id is that of its event. */
  record Said(UUID eventId, String author, String text, Instant sentAt) {}

  /** There is no such session in the project. */
  static final class NoSuchRoomException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NoSuchRoomException(Room room) {
      super("there is no session " + room.session() + " in project " + room.project());
    }
  }

  private static final String RECORD =
      """
      insert into chat.message (id, project, session, number, author, body)
      select ?, project, id, ?, ?, ? from chat.session where project = ? and id = ?
      """;

  private static final String HISTORY =
      """
      select id, author, body, sent_at
        from (select * from chat.message where project = ? and session = ?
               order by number desc limit ?) newest
       order by number
      """;

  private final DataSource dataSource;
  private final Outbox outbox = new Outbox();

  ChatRooms(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  void open(Room room) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement insert =
            connection.prepareStatement(
                "insert into chat.session (project, id) values (?, ?) on conflict do nothing")) {
      insert.setString(1, room.project());
      insert.setString(2, room.session());
      insert.executeUpdate();
    }
  }

  /**
   * Says something. Repeated with the same key it is said once, and answered as the first time.
   *
   * @throws NoSuchRoomException with nothing written, neither message nor event
   */
  Enqueued post(Room room, String author, String text, String idempotencyKey) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false); // closed without a commit it is rolled back
      Enqueued event = outbox.enqueue(connection, event(room, author, text, idempotencyKey));
      if (!event.duplicate()) {
        record(connection, event, room, author, text);
      }
      connection.commit();
      return event;
    }
  }

  private static NewMessage event(Room room, String author, String text, String idempotencyKey) {
    return NewMessage.to(NAMESPACE, TOPIC)
        .key(room.toString())
        .dedupeKey(room + "/" + idempotencyKey)
        .tenant(room.project())
        .aggregate(AGGREGATE, room.session())
        .eventType(EVENT)
        .json(Json.write(Map.of("author", author, "text", text)))
        .build();
  }

  private static void record(
      Connection connection, Enqueued event, Room room, String author, String text)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(RECORD)) {
      insert.setObject(1, event.id());
      insert.setObject(2, event.sequence());
      insert.setString(3, author);
      insert.setString(4, text);
      insert.setString(5, room.project());
      insert.setString(6, room.session());
      if (insert.executeUpdate() == 0) {
        throw new NoSuchRoomException(room);
      }
    }
  }

  /** The newest messages of a session, the oldest of them first. */
  List<Said> history(Room room, int limit) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement select = connection.prepareStatement(HISTORY)) {
      select.setString(1, room.project());
      select.setString(2, room.session());
      select.setInt(3, limit);
      try (ResultSet row = select.executeQuery()) {
        List<Said> messages = new ArrayList<>();
        while (row.next()) {
          messages.add(
              new Said(
                  row.getObject(1, UUID.class),
                  row.getString(2),
                  row.getString(3),
                  row.getObject(4, OffsetDateTime.class).toInstant()));
        }
        return messages;
      }
    }
  }
}

package dev.postrider.server.stream;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Scope;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.schema.Schema;
import dev.postrider.server.Desk;
import dev.postrider.stream.StreamDestination;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** A server with streams, and a relay in front of it. */
final class Station implements AutoCloseable {
  static final StreamConfig CONFIG = StreamConfig.DEFAULT;

  final Desk desk;

  /** For everything, with payloads. */
  final String token;

  private final Relay relay;

  Station(StreamConfig config) {
    this(Desk.open(server -> server.streams(config)));
  }

  Station(Desk desk) {
    this.desk = desk;
    this.token = token(Scope.ALL);
    this.relay =
        Relay.builder(desk.postgres.dataSource())
            .config(RelayConfig.defaults().withPollInterval(Duration.ofMillis(100)))
            .destination(
                "stream", new StreamDestination(desk.postgres.dataSource(), Schema.DEFAULT))
            .route("*", "*", "stream")
            .build()
            .start();
  }

  String token(Scope scope) {
    return desk.token(
            NewToken.of(Desk.name("stream"), Permission.STREAM, Permission.PAYLOAD_READ)
                .within(scope))
        .secret();
  }

  /** Messages of one room, in order, with numbers from first on. */
  void say(String room, int first, int count) {
    say(room, first, count, "'x'");
  }

  /**
   * @param text SQL for what is said
   */
  void say(String room, int first, int count, String text) {
    desk.postgres.execute(
        """
        do $$ begin
          for n in %2$d..%3$d loop
            perform postrider.enqueue('chat', 'messages',
              json_build_object('n', n, 'text', %4$s)::text, key => 'room-%1$s',
              tenant => 'tenant-%1$s', aggregate_type => 'room', aggregate_id => '%1$s',
              event_type => 'said', headers => '{"trace": "t"}');
          end loop;
        end $$
        """
            .formatted(room, first, first + count - 1, text));
  }

  /** The same in a transaction for each message; stops when the thread is interrupted. */
  void sayOneByOne(String room, int count) throws SQLException {
    try (Connection connection = desk.postgres.dataSource().getConnection();
        PreparedStatement enqueue =
            connection.prepareStatement(
                """
                select postrider.enqueue('chat', 'messages', ?, key => ?, tenant => ?,
                  aggregate_type => 'room', aggregate_id => ?, event_type => 'said')
                """)) {
      for (int n = 1; n <= count; n++) {
        List<String> values = List.of("{\"n\": " + n + "}", "room-" + room, "tenant-" + room, room);
        for (int i = 0; i < values.size(); i++) {
          enqueue.setString(i + 1, values.get(i));
        }
        enqueue.execute();
      }
    }
  }

  List<String> sentIds() {
    return desk.postgres.column("select id from postrider.message order by id");
  }

  @Override
  public void close() {
    relay.close();
    desk.close();
  }
}

package dev.postrider.enqueue;

import static dev.postrider.enqueue.Producer.order;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.Enqueued;
import dev.postrider.message.InvalidMessageException;
import dev.postrider.message.NewMessage;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The oldest and the newest server: what differs between them is made up for in the schema. */
class ServerVersionsTest {

  @ParameterizedTest
  @ValueSource(ints = {15, 16, 17, 18})
  @Tag("EN-15")
  void theJavaApiWorks(int version) throws Exception {
    Producer producer = new Producer(TestDatabase.create(version), new Outbox());
    NewMessage message = order().key("k").dedupeKey("d").header("h", "v").build();
    assertThat(producer.commit(message).sequence()).isEqualTo(1);
    assertThat(producer.commitBatch(List.of(message, order().key("k").build())))
        .extracting(Enqueued::sequence)
        .containsExactly(1L, 2L);
    assertThatThrownBy(() -> producer.commit(order().json("{").build()))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining("payload is not valid JSON");
    assertThatThrownBy(() -> producer.commitBatch(List.of(order().json("{").build())))
        .isInstanceOf(InvalidMessageException.class);
    producer.deliverAll();
    assertThat(producer.database().column("select state from postrider.message_state"))
        .containsExactly("delivered", "delivered");
  }

  @ParameterizedTest
  @ValueSource(ints = {15, 16, 17, 18})
  @Tag("EN-5")
  @Tag("EN-15")
  void plainSqlIsEnough(int version) {
    TestDatabase database = TestDatabase.create(version);
    database.execute("select postrider.enqueue('shop', 'orders', '{\"n\": 1}')");
    database.execute("select postrider.try_enqueue_plain('shop', 'orders', '{\"n\": 2}')");
    database.execute(
        """
        select postrider.enqueue(namespace => 'shop', topic => 'orders', key => 'k',
          payload_bytes => '\\x00ff', content_type => 'image/png')
        """);
    assertThat(
            database.column(
                """
                select concat_ws(' ', place, sequence, duplicate) from postrider.enqueue_batch('[
                  {"namespace": "shop", "topic": "orders", "payload": {"n": [1, 2]}, "key": "k"},
                  {"namespace": "shop", "topic": "orders", "payload": "text", "dedupe_key": "d",
                   "content_type": "text/plain"},
                  {"namespace": "shop", "topic": "orders", "payload_base64": "AP8=", "key": "k",
                   "content_type": "image/png", "headers": {"h": "v"}, "dedupe_key": "d"}]')
                """))
        .containsExactly("1 2 f", "2 f", "3 t");
    assertThat(
            database.column("select encode(payload, 'escape') from postrider.message order by id"))
        .containsExactly("{\"n\": 1}", "{\"n\": 2}", "\\000\\377", "{\"n\": [1, 2]}", "text");
  }

  @ParameterizedTest
  @ValueSource(ints = {15, 16, 17, 18})
  @Tag("EN-3")
  @Tag("EN-15")
  void idsAreTimeOrderedUuids(int version) {
    TestDatabase database = TestDatabase.create(version);
    List<String> ids =
        database.column("select postrider.new_id() from generate_series(1, 200) n order by n");
    assertThat(ids).doesNotHaveDuplicates();
    assertThat(ids).extracting(id -> id.substring(0, 18)).isSorted();
    assertThat(ids).extracting(id -> UUID.fromString(id).version()).containsOnly(7);
    assertThat(ids).extracting(id -> UUID.fromString(id).variant()).containsOnly(2);
    assertThat(
            database.count(
                """
                select abs(extract(epoch from clock_timestamp() - postrider.id_time(
                  postrider.new_id())) * 1000)::bigint
                """))
        .isLessThan(1000);
  }

  /** A transaction-mode pool gives every transaction another session: none may be told apart. */
  @ParameterizedTest
  @ValueSource(ints = {15, 16, 17, 18})
  @Tag("EN-15")
  void enqueueLeavesNothingBehindInTheSession(int version) throws Exception {
    TestDatabase database = TestDatabase.create(version);
    try (Connection connection =
        DriverManager.getConnection(database.jdbcUrl() + "&prepareThreshold=0")) {
      connection.setAutoCommit(false);
      List<String> before = session(connection);
      new Outbox().enqueue(connection, order().key("k").dedupeKey("d").build());
      new Outbox().enqueue(connection, List.of(order().key("k").dedupeKey("d").build()));
      connection.commit();
      assertThat(session(connection)).isEqualTo(before);
      connection.commit();
      connection.setAutoCommit(true);
      connection.createStatement().execute("discard all");
      connection.setAutoCommit(false);
      new Outbox().enqueue(connection, order().key("k").build());
      connection.commit();
    }
    assertThat(database.count("select max(sequence) from postrider.queue")).isEqualTo(2);
  }

  private static List<String> session(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                """
                select name || '=' || setting from pg_settings where source = 'session'
                union all select 'prepared ' || name from pg_prepared_statements
                union all select 'listens ' || c from pg_listening_channels() c
                union all select 'advisory' from pg_locks
                           where locktype = 'advisory' and pid = pg_backend_pid()
                union all select 'temporary' where pg_my_temp_schema() <> 0
                union all select 'role ' || current_user
                order by 1
                """)) {
      List<String> found = new ArrayList<>();
      while (rows.next()) {
        found.add(rows.getString(1));
      }
      return found;
    }
  }
}

package dev.postrider.enqueue;

import static dev.postrider.enqueue.Producer.order;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.postrider.message.InvalidMessageException;
import dev.postrider.message.NewMessage;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.util.PSQLException;

class RefusalTest {
  private static final Producer PRODUCER = Producer.create();

  static Stream<Arguments> badMessages() {
    Instant now = Instant.now();
    return Stream.of(
        arguments("namespace", "101 characters; at most 100", to("n".repeat(101), "t")),
        arguments("namespace", "is empty; give 1 to 100", to("", "t")),
        arguments("topic", "201 characters; at most 200", to("n", "t".repeat(201))),
        arguments("topic", "is empty; give 1 to 200", to("n", "")),
        arguments("key", "401 characters; at most 400", order().key("k".repeat(401))),
        arguments("key", "is empty", order().key("")),
        arguments("dedupe_key", "401 characters; at most 400", order().dedupeKey("d".repeat(401))),
        arguments("dedupe_key", "is empty", order().dedupeKey("")),
        arguments("tenant", "201 characters; at most 200", order().tenant("t".repeat(201))),
        arguments("tenant", "is empty", order().tenant("")),
        arguments("aggregate_type", "at most 200", order().aggregate("a".repeat(201), "1")),
        arguments("aggregate_id", "at most 200", order().aggregate("a", "1".repeat(201))),
        arguments("event_type", "at most 200", order().eventType("e".repeat(201))),
        arguments("content_type", "at most 200", order().payload(new byte[] {1}, "t".repeat(201))),
        arguments("payload", "not valid JSON", order().json("{\"a\":}")),
        arguments("payload", "not valid JSON", order().json("")),
        arguments("payload", "not valid JSON", order().json("{} {}")),
        arguments(
            "payload", "not valid JSON", order().payload(new byte[] {'{'}, "application/json")),
        arguments(
            "payload",
            "not valid JSON",
            order().payload(new byte[] {'"', -1, '"'}, "application/vnd.shop+json; v=1")),
        arguments(
            "payload",
            "1048577 bytes; at most 1048576",
            order().json("\"" + "x".repeat((1 << 20) - 1) + "\"")),
        arguments("headers", "more than 64", order().headers(headers(65))),
        arguments("headers", "201 characters; 1 to 200", order().header("h".repeat(201), "")),
        arguments("headers", "0 characters; 1 to 200", order().header("", "")),
        arguments("headers", "at most 4096", order().header("h", "v".repeat(4097))),
        arguments("not_before", "one day ago", order().notBefore(now.minus(Duration.ofHours(25)))),
        arguments("not_before", "366 days", order().notBefore(now.plus(Duration.ofDays(367)))),
        arguments("id", "must be a UUIDv7", order().id(UUID.randomUUID())),
        arguments(
            "id",
            "one day ago",
            order().id(UUID.fromString("00000000-0000-7000-8000-000000000000"))));
  }

  /** An unknown topic is looked at closely, whatever else is in order; a known one is not. */
  @BeforeAll
  static void theTopicIsKnown() throws Exception {
    PRODUCER.commit(order().build());
    PRODUCER.commit(to("n", "known").build());
  }

  @ParameterizedTest
  @MethodSource("badMessages")
  @Tag("EN-4")
  void aBadMessageIsRefusedByFieldAndLimitBeforeAnyWrite(
      String field, String problem, NewMessage.Builder message) throws Exception {
    NewMessage bad = message.build();
    refusedBeforeAnyWrite(field, problem, c -> PRODUCER.outbox().enqueue(c, bad));
    refusedBeforeAnyWrite(
        field, problem, c -> PRODUCER.outbox().enqueue(c, List.of(order().build(), bad)));
  }

  @Test
  @Tag("EN-4")
  void aRefusedBatchNamesTheMessage() throws Exception {
    List<NewMessage> batch = List.of(order().build(), order().json("{").build());
    refusedBeforeAnyWrite(
        "payload",
        "message 2: payload is not valid JSON",
        c -> PRODUCER.outbox().enqueue(c, batch));
  }

  @ParameterizedTest
  @Tag("EN-4")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          namespace      | is missing   | null, 't', '{}'
          topic          | is missing   | 'n', null, '{}'
          payload        | is missing   | 'n', 't'
          payload        | given twice  | 'n', 't', '{}', payload_bytes => 'x'
          aggregate_type | is missing   | 'n', 't', '{}', aggregate_id => '1'
          content_type   | is empty     | 'n', 't', '{}', content_type => ''
          headers        | got array    | 'n', 't', '{}', headers => '["a"]'
          headers        | type number  | 'n', 't', '{}', headers => '{"a": 1}'
          not_before     | got infinity | 'n', 't', '{}', not_before => 'infinity'
          """)
  void aBadCallFromSqlIsRefusedByField(String field, String problem, String arguments)
      throws Exception {
    refused(field, problem, "select postrider.enqueue(" + arguments + ")");
  }

  /** The quick look at headers lets nothing pass that the closer one refuses. */
  @ParameterizedTest
  @Tag("EN-4")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          got array                 | '[]'
          got string                | '"traceparent"'
          got null                  | 'null'
          a is of type null         | '{"a": null}'
          a is of type boolean      | '{"x": "y", "a": true}'
          a is of type object       | '{"a": {"b": "c"}}'
          a is of type array        | '{"a": ["b"]}'
          0 characters              | '{"": "x"}'
          201 characters; 1 to 200  | jsonb_build_object(repeat('x', 201), '')
          201 characters; 1 to 200  | jsonb_build_object(repeat(chr(10), 201), '')
          201 characters; 1 to 200  | jsonb_build_object('x', '', repeat('ü', 201), '')
          more than 64              | (select jsonb_object_agg(chr(n), '') from generate_series(161, 225) n)
          at most 4096              | jsonb_build_object('x', repeat('y', 4097))
          """)
  void badHeadersForAKnownTopicAreRefused(String problem, String headers) throws Exception {
    String call = "select postrider.enqueue('n', 'known', '{}', headers => %s)".formatted(headers);
    refused("headers", problem.replace("a is", "'a' is"), call);
  }

  @ParameterizedTest
  @Tag("EN-4")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          messages       | must be a JSON array         | {}
          messages       | message 2 is a number        | [{}, 5]
          messages       | unknown field 'dedupekey'    | [{"topic": "t", "dedupekey": "d"}]
          messages       | cannot be read in message 1  | [{"tenant": "\\u0000"}]
          id             | cannot be read in message 1  | [{"id": "first"}]
          not_before     | cannot be read in message 1  | [{"not_before": "soon"}]
          payload_base64 | cannot be read in message 1  | [{"payload_base64": "?"}]
          namespace      | message 1: namespace is miss | [{"topic": "t", "payload": {}}]
          """)
  void aBadBatchFromSqlIsRefusedByField(String field, String problem, String json)
      throws Exception {
    refused(field, problem, "select * from postrider.enqueue_batch('" + json + "')");
  }

  @Test
  @Tag("EN-4")
  void theLimitsThemselvesAreAllowed() throws Exception {
    NewMessage most =
        NewMessage.to("n".repeat(100), "t".repeat(200))
            .json("\"" + "x".repeat((1 << 20) - 2) + "\"")
            .key("k".repeat(400))
            .dedupeKey("d".repeat(400))
            .tenant("t".repeat(200))
            .aggregate("a".repeat(200), "i".repeat(200))
            .eventType("e".repeat(200))
            .headers(headers(64))
            .notBefore(Instant.now().plus(Duration.ofDays(365)))
            .build();
    assertThat(PRODUCER.commit(most).duplicate()).isFalse();
    assertThat(PRODUCER.commitBatch(List.of(most)).get(0).duplicate()).isTrue();
  }

  @Test
  @Tag("EN-4")
  void thePayloadLimitIsConfigurable() throws Exception {
    Producer small = Producer.create();
    small.database().execute("update postrider.engine set max_payload_bytes = 4096");
    small.commit(order().json('"' + "x".repeat(4094) + '"').build());
    assertThatThrownBy(() -> small.commit(order().json('"' + "x".repeat(4095) + '"').build()))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessage("payload has 4097 bytes; at most 4096 are allowed");
  }

  @ParameterizedTest
  @Tag("EN-4")
  @CsvSource({"0, U+0000", "55357, surrogate", "56832, surrogate"})
  void textThatPostgresCannotHoldIsRefusedByField(int character, String problem) {
    String text = "a" + (char) character;
    assertThatThrownBy(() -> order().tenant(text).build())
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining("tenant holds")
        .hasMessageContaining(problem);
    assertThatThrownBy(() -> order().json('"' + text + '"')).hasMessageContaining("payload holds");
    assertThatThrownBy(() -> order().header("h", text).build())
        .hasMessageContaining("headers holds");
  }

  @Test
  @Tag("EN-4")
  void aMessageWithoutPayloadIsNotEvenBuilt() {
    assertThatThrownBy(() -> NewMessage.to("shop", "orders").build())
        .isInstanceOf(InvalidMessageException.class)
        .hasMessage("payload is missing; it is mandatory");
  }

  private interface Call {
    Object on(Connection connection) throws SQLException;
  }

  /** A transaction gets its id with its first write, so one without an id has written nothing. */
  private static void refusedBeforeAnyWrite(String field, String problem, Call call)
      throws SQLException {
    try (Connection connection = PRODUCER.database().transaction()) {
      Savepoint savepoint = connection.setSavepoint();
      InvalidMessageException refusal =
          catchThrowableOfType(InvalidMessageException.class, () -> call.on(connection));
      assertThat(refusal).hasMessageContaining(problem).hasMessageContaining(field);
      assertThat(refusal.field()).isEqualTo(field);
      connection.rollback(savepoint);
      try (Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery("select pg_current_xact_id_if_assigned()")) {
        assertThat(row.next()).isTrue();
        assertThat(row.getString(1)).isNull();
      }
    }
  }

  private static void refused(String field, String problem, String sql) throws SQLException {
    try (Connection connection = PRODUCER.database().transaction();
        Statement statement = connection.createStatement()) {
      PSQLException refusal =
          catchThrowableOfType(PSQLException.class, () -> statement.execute(sql));
      assertThat(refusal.getMessage()).contains(problem);
      assertThat(refusal.getSQLState()).isEqualTo("PR001");
      assertThat(refusal.getServerErrorMessage().getColumn()).isEqualTo(field);
    }
  }

  private static NewMessage.Builder to(String namespace, String topic) {
    return NewMessage.to(namespace, topic).json("{}");
  }

  private static Map<String, String> headers(int count) {
    return IntStream.range(0, count).boxed().collect(Collectors.toMap(i -> "h" + i, i -> "v"));
  }
}

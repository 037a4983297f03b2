package dev.postrider.enqueue;

import static dev.postrider.enqueue.Producer.order;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.PGConnection;

/** The quick functions write what enqueue() writes, or nothing. */
class QuickEnqueueTest {
  private static final Producer PRODUCER = Producer.create();

  /** Their first message makes the topic known, which the quick functions leave to enqueue(). */
  @BeforeAll
  static void theTopicIsKnown() throws Exception {
    PRODUCER.commit(order().key("known").dedupeKey("known").build());
  }

  static Stream<Arguments> shapes() {
    return Stream.of(
        arguments("try_enqueue_plain", order()),
        arguments("try_enqueue_keyed", order().key("a")),
        arguments("try_enqueue_keyed", full(order().key("a"))),
        arguments("try_enqueue_once", order().key("a").dedupeKey("d")),
        arguments("try_enqueue_once", full(order().key("a").dedupeKey("d"))));
  }

  private static NewMessage.Builder full(NewMessage.Builder message) {
    return message
        .tenant("acme")
        .aggregate("order", "4711")
        .eventType("placed")
        .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  }

  @ParameterizedTest
  @MethodSource("shapes")
  @Tag("EN-1")
  @Tag("EN-3")
  void aQuickCallWritesWhatTheLongOneWrites(String function, NewMessage.Builder message)
      throws Exception {
    Producer quick = Producer.create();
    Producer careful = Producer.create();
    EnqueueCall call = new EnqueueCall(message.build());
    assertThat(call.quickSql()).contains(function);
    for (Producer each : List.of(quick, careful)) {
      each.commit(order().key("other").build());
    }
    Enqueued quickAnswer = ask(quick, call.quickSql(), call);
    Enqueued answer = ask(careful, call.sql(), call);
    assertThat(quickAnswer).isNotNull();
    assertThat(quickAnswer.sequence()).isEqualTo(answer.sequence());
    assertThat(quickAnswer.duplicate()).isFalse();
    assertThat(rows(quick)).isEqualTo(rows(careful)).hasSizeGreaterThan(2);
    assertThat(quick.database().column("select id from postrider.message order by id desc limit 1"))
        .containsExactly(quickAnswer.id().toString());
    quick.deliverAll();
    assertThat(quick.queued()).isZero();
  }

  /** A function in SQL that the planner does not inline is set up and run in every call. */
  @ParameterizedTest
  @MethodSource("shapes")
  void aQuickCallCallsNoOtherFunctionOfOursInSql(String function, NewMessage.Builder message)
      throws Exception {
    Producer quick = Producer.create();
    quick.commit(order().key("a").build());
    EnqueueCall call = new EnqueueCall(message.build());
    try (Connection connection = quick.database().transaction();
        Statement statement = connection.createStatement();
        var enqueue = connection.prepareStatement(call.quickSql())) {
      statement.execute("set track_functions = 'all'");
      statement.execute("set plan_cache_mode = force_generic_plan"); // others fold constants
      call.bind(enqueue);
      enqueue.executeQuery().close();
      connection.commit();
      statement.execute("select pg_stat_force_next_flush()");
      connection.commit();
    }
    assertThat(
            quick
                .database()
                .column(
                    """
                    select f.funcname from pg_stat_user_functions f
                      join pg_proc p on p.oid = f.funcid
                      join pg_language l on l.oid = p.prolang
                     where f.schemaname = 'postrider' and l.lanname = 'sql'
                    """))
        .containsExactly(function);
  }

  private static Enqueued ask(Producer producer, String sql, EnqueueCall call) throws Exception {
    try (Connection connection = producer.database().transaction();
        var statement = connection.prepareStatement(sql)) {
      call.bind(statement);
      try (var row = statement.executeQuery()) {
        row.next();
        Enqueued answer = EnqueueCall.answer(row);
        connection.commit();
        return answer;
      }
    }
  }

  /** Everything but ids and times. */
  private static List<String> rows(Producer producer) {
    return producer
        .database()
        .column(
            """
            select to_jsonb(m) - 'id' - 'created_at' || jsonb_build_object('at', created_at is null)
              from postrider.message m
            union all
            select to_jsonb(q) - 'id' - case when key_id is null then 'sequence' else '' end
              from postrider.queue q
            union all
            select to_jsonb(d) - 'message_id' || jsonb_build_object('first', exists (
                select from postrider.message m where m.id = d.message_id))
              from postrider.dedupe d
            union all
            select to_jsonb(k) - 'used_at' from postrider.ordering_key k
            """);
  }

  @ParameterizedTest
  @Tag("EN-4")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          plain | 'shop', 'new', '{}'
          plain | null, 'orders', '{}'
          plain | 'shop', 'orders', null
          plain | 'shop', 'orders', '{'
          plain | 'shop', 'orders', concat('"', repeat('x', 4096), '"')
          keyed | 'shop', 'new', '{}', 'k'
          keyed | 'shop', 'orders', '{', 'k'
          keyed | 'shop', 'orders', '{}', null
          keyed | 'shop', 'orders', '{}', ''
          keyed | 'shop', 'orders', '{}', repeat('k', 201)
          keyed | 'shop', 'orders', '{}', 'k', tenant => ''
          keyed | 'shop', 'orders', '{}', 'k', aggregate_id => '1'
          keyed | 'shop', 'orders', '{}', 'k', headers => '{"a": 1}'
          keyed | 'shop', 'orders', '{}', 'k', headers => jsonb_build_object('a', repeat('x', 512))
          once  | 'shop', 'new', '{}', 'k', 'd'
          once  | 'shop', 'orders', '', 'k', 'd'
          once  | 'shop', 'orders', '{}', null, 'd'
          once  | 'shop', 'orders', '{}', 'k', null
          once  | 'shop', 'orders', '{}', 'k', ''
          once  | 'shop', 'orders', '{}', 'k', 'd', event_type => repeat('e', 201)
          once  | 'shop', 'orders', '{}', 'k', 'known'
          """)
  void whatIsNotAsUsualIsLeftAlone(String function, String arguments) {
    List<String> before = rows(PRODUCER);
    String call = "select postrider.try_enqueue_%s(%s) is null".formatted(function, arguments);
    assertThat(PRODUCER.database().value(call)).isEqualTo("t");
    assertThat(rows(PRODUCER)).isEqualTo(before);
  }

  @Test
  @Tag("EN-3")
  @Tag("PO-2")
  void aDuplicateGetsTheFirstOnesAnswer() throws Exception {
    NewMessage message = order().key("twice").dedupeKey("twice").build();
    Enqueued first = PRODUCER.commit(message);
    long messages = PRODUCER.messages();
    assertThat(PRODUCER.commit(message))
        .isEqualTo(new Enqueued(first.id(), first.sequence(), true));
    assertThat(PRODUCER.messages()).isEqualTo(messages);
    assertThat(PRODUCER.commit(order().key("twice").dedupeKey("thrice").build()).sequence())
        .isEqualTo(first.sequence() + 1);
  }

  /** Of two first messages with one dedupe key, the second waits and is told of the first. */
  @Test
  @Tag("EN-3")
  void aDuplicateOfAnOpenTransactionWaitsForIt() throws Exception {
    NewMessage message = order().key("open").dedupeKey("open").build();
    try (Connection connection = PRODUCER.database().transaction()) {
      Enqueued first = PRODUCER.outbox().enqueue(connection, message);
      CompletableFuture<Enqueued> second = Producer.async(() -> PRODUCER.commit(message));
      PRODUCER.awaitBlocked(1);
      connection.commit();
      assertThat(second.get()).isEqualTo(new Enqueued(first.id(), first.sequence(), true));
    }
  }

  /** Functions in SQL keep their plans since version 18. */
  @ParameterizedTest
  @CsvSource({"18, 1, 0", "17, 0, 1"})
  @Tag("EN-15")
  void theOutboxAsksTheQuickFunctionWhereItIsQuick(int version, String quick, String careful)
      throws Exception {
    Producer producer = new Producer(TestDatabase.create(version), new Outbox());
    producer.commit(order().build());
    try (Connection connection = producer.database().transaction();
        Statement statement = connection.createStatement()) {
      statement.execute("set local track_functions = 'all'");
      producer.outbox().enqueue(connection, order().build());
      try (var calls =
          statement.executeQuery(
              """
              select count(*) filter (where funcname = 'try_enqueue_plain'),
                     count(*) filter (where funcname = 'enqueue')
                from pg_stat_xact_user_functions where calls = 1
              """)) {
        calls.next();
        assertThat(calls.getString(1)).isEqualTo(quick);
        assertThat(calls.getString(2)).isEqualTo(careful);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("shapes")
  @Tag("EN-7")
  void aSleepingRelayIsRung(String function, NewMessage.Builder message) throws Exception {
    Producer producer = Producer.create();
    producer.commit(order().build());
    EnqueueCall call = new EnqueueCall(message.build());
    try (Connection relay = producer.database().dataSource().getConnection();
        Statement statement = relay.createStatement()) {
      statement.execute("listen postrider");
      assertThat(ask(producer, call.quickSql(), call)).isNotNull();
      assertThat(notifications(statement)).as(function + " while no relay sleeps").isEmpty();
      producer.database().execute("select postrider.arm_doorbell()");
      EnqueueCall again =
          message.build().dedupeKey() == null
              ? call
              : new EnqueueCall(message.dedupeKey("next").build());
      assertThat(ask(producer, again.quickSql(), again).duplicate()).isFalse();
      assertThat(notifications(statement)).as(function + " while one sleeps").hasSize(1);
    }
  }

  /** Those of commits before this call. */
  private static Object[] notifications(Statement statement) throws Exception {
    statement.execute("select 1");
    return statement.getConnection().unwrap(PGConnection.class).getNotifications();
  }
}

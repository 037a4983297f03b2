package dev.postrider.enqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.jackson.Jackson2Codec;
import dev.postrider.jackson.Jackson3Codec;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.InvalidMessageException;
import dev.postrider.message.JsonCodec;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.util.AbstractList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

/** Payloads that are objects, written and read by the application's JSON library. */
class JsonPayloadTest {
  record Line(String article, int pieces) {}

  record Order(String id, List<Line> lines) {}

  /** Cannot be written. */
  record Handle(Lock line) {}

  /** A list whose elements cannot be had. */
  static final class Lock extends AbstractList<String> {
    @Override
    public String get(int index) {
      throw new IllegalStateException("the cart is closed");
    }

    @Override
    public int size() {
      return 1;
    }
  }

  private static final Order ORDER =
      new Order("o-1 \"quoted\" \\ é", List.of(new Line("tea", 2), new Line("milk", 1)));

  private final TestDatabase database = TestDatabase.create();

  static Stream<JsonCodec> codecs() {
    return Stream.of(
        new Jackson3Codec(new JsonMapper()),
        new Jackson2Codec(new com.fasterxml.jackson.databind.ObjectMapper()));
  }

  @ParameterizedTest
  @MethodSource("codecs")
  void anObjectArrivesAsAnObject(JsonCodec codec) throws Exception {
    commit(new Outbox(codec), NewMessage.to("shop", "orders").key("o-1").json(ORDER).build());
    List<Order> arrived = new CopyOnWriteArrayList<>();

    try (Relay relay =
        Relay.builder(database.dataSource())
            .destination(
                "orders",
                HandlerDestination.of(
                    1,
                    message -> {
                      arrived.add(codec.read(message, Order.class));
                      return Outcome.delivered();
                    }))
            .route("shop", "orders", "orders")
            .build()
            .start()) {
      await().until(() -> !arrived.isEmpty());
    }

    assertThat(arrived).containsExactly(ORDER);
    assertThat(database.count("select count(*) from postrider.message where is_json")).isOne();
  }

  @ParameterizedTest
  @MethodSource("codecs")
  void aPayloadThatDoesNotFitIsDeadAtOnce(JsonCodec codec) throws Exception {
    String wrong = "{\"id\": \"o-1\", \"lines\": [{\"article\": \"tea\", \"pieces\": \"many\"}]}";
    commit(
        new Outbox(),
        NewMessage.to("shop", "orders").json(wrong).build(),
        NewMessage.to("shop", "orders").json("null").build(),
        NewMessage.to("shop", "orders").payload(new byte[] {1}, "image/png").build());

    try (Relay relay =
        Relay.builder(database.dataSource())
            .destination(
                "orders",
                HandlerDestination.inline(
                    message -> {
                      codec.read(message, Order.class);
                      return Outcome.delivered();
                    }))
            .route("shop", "orders", "orders")
            .build()
            .start()) {
      await().until(() -> database.count("select count(*) from postrider.dead_letter") == 3);
    }

    List<String> errors =
        database.column(
            "select error from postrider.attempt_history where code = 'payload_unreadable'"
                + " order by message_id");
    assertThat(errors).hasSize(3);
    String summary = "the payload could not be read";
    assertThat(errors.get(0))
        .startsWith(ErrorReport.of(summary, summary + " as " + Order.class.getName() + ": "))
        .contains("\"pieces\"")
        .contains("\"many\"");
    // What a JSON library says quotes the payload.
    assertThat(errors).extracting(ErrorReport::withoutReply).containsOnly(summary);
    assertThat(errors.get(1)).endsWith("the document is null");
    assertThat(errors.get(2))
        .endsWith("the payload is image/png, expected JSON for " + Order.class.getName());
  }

  @ParameterizedTest
  @MethodSource("codecs")
  void whatCannotBeWrittenIsNamedAndNothingIsEnqueued(JsonCodec codec) throws Exception {
    Outbox outbox = new Outbox(codec);
    NewMessage broken = NewMessage.to("shop", "orders").json(new Handle(new Lock())).build();
    try (Connection connection = database.transaction()) {
      InvalidMessageException one =
          catchThrowableOfType(
              InvalidMessageException.class, () -> outbox.enqueue(connection, broken));
      assertThat(one.field()).isEqualTo("payload");
      assertThat(one)
          .hasMessageStartingWith(
              "payload: " + Handle.class.getName() + " could not be written as JSON: ")
          .hasMessageContaining("the cart is closed")
          .hasMessageContaining("\"line\"");

      NewMessage good = NewMessage.to("shop", "orders").json(ORDER).build();
      assertThatThrownBy(() -> outbox.enqueue(connection, List.of(good, broken)))
          .isInstanceOf(InvalidMessageException.class)
          .hasMessageStartingWith("message 2: payload: ");
      // Nothing was sent to the database, so its transaction goes on.
      outbox.enqueue(connection, List.of(good, good));
      connection.commit();
    }
    assertThat(database.count("select count(*) from postrider.message")).isEqualTo(2);
  }

  @Test
  void anOutboxWithoutACodecSaysHowToGetOne() throws Exception {
    NewMessage message = NewMessage.to("shop", "orders").json(ORDER).build();
    try (Connection connection = database.transaction()) {
      assertThatThrownBy(() -> new Outbox().enqueue(connection, message))
          .isInstanceOf(InvalidMessageException.class)
          .hasMessageContaining(Order.class.getName())
          .hasMessageContaining("new Outbox(new Jackson3Codec(mapper))");
      connection.commit();
    }
    assertThat(database.count("select count(*) from postrider.message")).isZero();
  }

  @Test
  void textPassedAsAnObjectIsRefused() {
    Object text = "{}";
    assertThatThrownBy(() -> NewMessage.to("shop", "orders").json(text))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining("json(String)");
    Object nothing = null;
    assertThatThrownBy(() -> NewMessage.to("shop", "orders").json(nothing))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessage("payload is null; it is mandatory");
  }

  @Test
  void theLastPayloadCounts() throws Exception {
    Outbox outbox = new Outbox(codecs().iterator().next());
    commit(outbox, NewMessage.to("shop", "orders").json(ORDER).json("1").build());
    commit(outbox, NewMessage.to("shop", "orders").json("1").json(List.of(2)).build());
    assertThat(
            database.column(
                "select convert_from(payload, 'UTF8') from postrider.message order by id"))
        .containsExactly("1", "[2]");
  }

  private void commit(Outbox outbox, NewMessage... messages) throws Exception {
    try (Connection connection = database.transaction()) {
      for (NewMessage message : messages) {
        outbox.enqueue(connection, message);
      }
      connection.commit();
    }
  }
}

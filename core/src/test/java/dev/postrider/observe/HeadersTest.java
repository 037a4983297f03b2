package dev.postrider.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.internal.text.Json;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** What the producer puts in the headers arrives at the destination, to the last character. */
class HeadersTest {
  private static final Map<String, String> HEADERS =
      Map.of(
          "traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "tracestate", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
          "x-quotes", "she said \"no\" \\ 'yes' {\"a\":1}",
          "x-ünicode-名前", "grüße \uD83D\uDE80 \u2028 naïve",
          "x-control", "a\tb\nc\rd\u0001e\u007f",
          "x-empty", "");

  private static TestDatabase database;
  private static Connection connection;

  @BeforeContainer
  static void open() throws Exception {
    database = TestDatabase.create();
    connection = database.dataSource().getConnection();
  }

  @AfterContainer
  static void close() throws Exception {
    connection.close();
  }

  @Example
  @Tag("EN-3")
  void traceContextAndUserHeadersTravelUnchanged() throws Exception {
    CompletableFuture<Message> arrived = new CompletableFuture<>();
    try (Connection producer = database.transaction()) {
      new Outbox()
          .enqueue(producer, NewMessage.to("shop", "orders").json("{}").headers(HEADERS).build());
      producer.commit();
    }
    try (Relay relay =
        Relay.builder(database.dataSource())
            .destination(
                "here",
                HandlerDestination.inline(
                    message -> {
                      arrived.complete(message);
                      return Outcome.delivered();
                    }))
            .route("shop", "*", "here")
            .build()
            .start()) {
      assertThat(relay.status().running()).isTrue();
      assertThat(arrived.get(30, TimeUnit.SECONDS).headers()).isEqualTo(HEADERS);
    }
  }

  /** jsonb is what the column holds, so the text that is read was written by the server. */
  @Property(tries = 300)
  void anyHeadersSurviveTheDatabase(@ForAll("headers") Map<String, String> headers)
      throws Exception {
    assertThat(Json.read(Json.write(headers))).isEqualTo(headers);
    try (PreparedStatement echo = connection.prepareStatement("select ?::jsonb")) {
      echo.setString(1, Json.write(headers));
      try (ResultSet row = echo.executeQuery()) {
        row.next();
        assertThat(Json.read(row.getString(1))).isEqualTo(headers);
      }
    }
  }

  /** Every character that PostgreSQL can store, with the awkward ones often. */
  @Provide
  Arbitrary<Map<String, String>> headers() {
    Arbitrary<Integer> awkward =
        Arbitraries.of(1, 8, 9, 10, 12, 13, 31, 34, 39, 47, 58, 92, 123, 125, 127, 0x2028, 0x1F680);
    Arbitrary<Integer> any =
        Arbitraries.integers()
            .between(1, Character.MAX_CODE_POINT)
            .filter(c -> c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE);
    Arbitrary<String> text =
        Arbitraries.oneOf(awkward, any, Arbitraries.integers().between(32, 126))
            .list()
            .ofMaxSize(20)
            .map(HeadersTest::string);
    return Arbitraries.maps(text, text).ofMaxSize(8);
  }

  private static String string(Iterable<Integer> codePoints) {
    StringBuilder out = new StringBuilder();
    codePoints.forEach(out::appendCodePoint);
    return out.toString();
  }
}

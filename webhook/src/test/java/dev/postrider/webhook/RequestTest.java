package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.envelope.Envelope;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a request looks like on the wire. */
@Tag("OP-6")
class RequestTest {
  private final Receiver receiver = Receiver.plain();

  @AfterEach
  void stop() {
    receiver.close();
  }

  private Receiver.Request sent(WebhookConfig.Builder builder, Message message) {
    try (WebhookDestination destination = Hooks.open(builder)) {
      assertThat(Hooks.send(destination, message)).isEqualTo(Outcome.delivered());
    }
    return receiver.request();
  }

  private Receiver.Request sent(Map<String, String> headers) {
    return sent(Hooks.to(receiver).headerFilter(name -> true), Hooks.message("{}", headers));
  }

  @Test
  void isAPostOfThePayloadToTheUrl() {
    Receiver.Request request = sent(Hooks.to(receiver), Hooks.message("{\"order\": 7}"));
    assertThat(request.method()).isEqualTo("POST");
    assertThat(request.uri()).hasToString("/hooks?who=shop");
    assertThat(request.text()).isEqualTo("{\"order\": 7}");
    assertThat(request.headers())
        .containsEntry("content-type", "application/json")
        .containsEntry("user-agent", "Postrider")
        .containsEntry("host", "127.0.0.1:" + receiver.port())
        .doesNotContainKeys("cookie", "authorization", "expect", "upgrade", "accept-encoding");
  }

  @Test
  @Tag("HE-4")
  void carriesTheHeadersOfTheEvent() {
    Receiver.Request request =
        sent(Hooks.to(receiver), Hooks.message("{}", Map.of("Traceparent", "00-0af7-b7ad-01")));
    assertThat(request.headers())
        .containsEntry("traceparent", "00-0af7-b7ad-01")
        .containsEntry("x-event-id", request.header("webhook-id"))
        .containsEntry("x-aggregate-type", "order")
        .containsEntry("x-aggregate-id", "7")
        .containsEntry("x-event-type", "order.placed")
        .containsEntry("x-group-id", "acme")
        .containsEntry("x-subsidiary-id", "north")
        .containsEntry("x-key", "order-7")
        .containsEntry("x-sequence", "3")
        .containsEntry("x-attempts", "1")
        .containsEntry("x-fencing-token", "99");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host",
        "Content-Length",
        "CONTENT-TYPE",
        "content-encoding",
        "Transfer-Encoding",
        "Connection",
        "keep-alive",
        "TE",
        "Trailer",
        "Upgrade",
        "Expect",
        "Authorization",
        "Proxy-Authorization",
        "Cookie",
        "User-Agent",
        "webhook-id",
        "Webhook-Signature",
        "WEBHOOK-TIMESTAMP",
        "webhook-anything",
        "ce-id",
        "X-Group-Id",
        "X-EVENT-ID",
      })
  void neverTakesFromTheProducerWhatIsNotIts(String name) {
    Receiver.Request request = sent(Map.of(name, "forged", "kept", "yes"));
    assertThat(request.headers()).containsEntry("kept", "yes");
    assertThat(request.headers().values()).noneMatch(value -> value.contains("forged"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "X-Forwarded-For",
        "Forwarded",
        "X-Real-IP",
        "Via",
        "X-API-Key",
        "X-Amz-Security-Token",
        "X-Csrf-Token",
        "X-User-Email",
        "baggage",
        "note"
      })
  void keepsInsideWhatNobodySaidMayTravel(String name) {
    Receiver.Request request =
        sent(Hooks.to(receiver), Hooks.message("{}", Map.of(name, "inside", "tracestate", "a=1")));
    assertThat(request.headers()).containsEntry("tracestate", "a=1");
    assertThat(request.headers().values()).doesNotContain("inside");
  }

  @ParameterizedTest
  @ValueSource(strings = {"with space", "colon:", "ümlaut", "", "line\r\nx-evil: 1", "tab\t"})
  void leavesOutANameThatNoHeaderCanHave(String name) {
    Receiver.Request request = sent(Map.of(name, "x", "kept", "yes"));
    assertThat(request.headers()).containsEntry("kept", "yes").doesNotContainKey("x-evil");
  }

  @ParameterizedTest
  @CsvSource({
    "plain value, plain value",
    "'a; b, c=\"d\"', 'a; b, c=\"d\"'",
    "100%, 100%25",
    "Zürich, Z%C3%BCrich",
    "🚀, %F0%9F%9A%80",
    "' edge ', %20edge%20",
  })
  void writesAnyValueAsAscii(String value, String expected) {
    assertThat(sent(Map.of("note", value)).header("note")).isEqualTo(expected);
  }

  @Test
  void letsNoValueStartAnotherHeader() {
    Receiver.Request request = sent(Map.of("note", "a\r\nx-evil: 1\r\n\r\nPOST / HTTP/1.1"));
    assertThat(request.headers()).doesNotContainKey("x-evil");
    assertThat(request.header("note")).startsWith("a%0D%0Ax-evil");
  }

  @Test
  void sendsOnlyTheHeadersThatTheFilterLetsThrough() {
    Receiver.Request request =
        sent(
            Hooks.to(receiver).headerFilter(Set.of("note")::contains),
            Hooks.message("{}", Map.of("note", "1", "internal", "2")));
    assertThat(request.headers())
        .containsEntry("note", "1")
        .containsKeys("webhook-id", "webhook-signature", "content-type")
        .doesNotContainKeys("internal", "x-fencing-token", "x-group-id");
  }

  @Test
  void theOperatorsHeadersWinOverTheProducers() {
    Receiver.Request request =
        sent(
            Hooks.to(receiver).header("X-Source", "ours").header("Authorization", "Bearer x"),
            Hooks.message("{}", Map.of("x-source", "theirs", "authorization", "theirs")));
    assertThat(request.headers())
        .containsEntry("x-source", "ours")
        .containsEntry("authorization", "Bearer x");
  }

  @Test
  void cloudEventsInBinaryModeBecomeHeaders() {
    Receiver.Request request =
        sent(
            Hooks.to(receiver).envelope(Envelope.cloudEventsBinary("/shop")),
            Hooks.message("{\"order\": 7}"));
    assertThat(request.text()).isEqualTo("{\"order\": 7}");
    assertThat(request.headers())
        .containsEntry("content-type", "application/json")
        .containsEntry("ce-specversion", "1.0")
        .containsEntry("ce-id", request.header("webhook-id"))
        .containsEntry("ce-source", "/shop")
        .containsEntry("ce-type", "order.placed")
        .containsEntry("ce-subject", "7");
  }

  @Test
  @Tag("HE-5")
  void theStandardEnvelopeIsSignedAsItIsSent() {
    Receiver.Request request =
        sent(Hooks.to(receiver).envelope(Envelope.standard()), Hooks.message("{\"order\": 7}"));
    assertThat(request.text())
        .startsWith("{\"event_id\":\"" + request.header("webhook-id"))
        .endsWith("\"payload\":{\"order\": 7}}");
  }
}

package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Outcome;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What each answer means for the message. */
@Tag("OP-6")
class StatusTest {
  private static final Instant NOW = Instant.parse("2026-11-16T10:00:00Z");

  private final Receiver receiver = Receiver.plain();

  @AfterEach
  void stop() {
    receiver.close();
  }

  private Outcome answering(Receiver.Answer answer) {
    receiver.answer(answer);
    return Hooks.send(
        Hooks.to(receiver)
            .clock(Clock.fixed(NOW, ZoneOffset.UTC))
            .retryAfterMax(Duration.ofMinutes(10)));
  }

  @ParameterizedTest
  @CsvSource({
    "200, delivered",
    "201, delivered",
    "202, delivered",
    "204, delivered",
    "299, delivered",
    "300, terminal redirect",
    "304, terminal redirect",
    "400, terminal http_400",
    "401, terminal http_401",
    "403, terminal http_403",
    "404, terminal http_404",
    "408, retryable http_408",
    "409, terminal http_409",
    "410, unavailable endpoint_gone",
    "413, terminal http_413",
    "422, terminal http_422",
    "425, retryable http_425",
    "429, retryable http_429",
    "431, terminal http_431",
    "500, retryable http_500",
    "501, retryable http_501",
    "502, retryable http_502",
    "503, retryable http_503",
    "504, retryable http_504",
    "599, retryable http_599",
    "600, retryable http_600",
  })
  void decides(int status, String expected) {
    assertThat(Hooks.kind(answering(Receiver.Answer.of(status)))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "429, 7, PT7S",
    "503, 7, PT7S",
    "503, 599, PT9M59S",
    "503, 601, PT10M",
    "503, 999999999, PT10M",
    "503, 'Mon, 16 Nov 2026 10:02:00 GMT', PT2M",
    "503, 'Monday, 16-Nov-26 10:02:00 GMT', PT2M",
    "503, 'Thu, 01 Jan 2099 00:00:00 GMT', PT10M",
  })
  @Tag("EN-10")
  void retryAfterIsRespectedUpToItsLimit(int status, String value, Duration expected) {
    Outcome outcome = answering(Receiver.Answer.of(status).with("Retry-After", value));
    assertThat(((Outcome.Retryable) outcome).retryAfter()).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-5",
        "1.5",
        "99999999999999999999",
        "soon",
        "",
        "Mon, 16 Nov 2026 09:59:59 GMT",
        "Mon, 99 Nov 2026 09:59:59 GMT"
      })
  @Tag("EN-10")
  void aRetryAfterThatMakesNoSenseIsIgnored(String value) {
    Outcome outcome = answering(Receiver.Answer.of(503).with("Retry-After", value));
    assertThat(((Outcome.Retryable) outcome).retryAfter()).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 303, 307, 308})
  void redirectsAreNeverFollowed(int status) {
    try (Receiver inside = Receiver.plain()) {
      Outcome outcome = answering(Receiver.Answer.of(status).with("Location", inside.url()));
      assertThat(Hooks.kind(outcome)).isEqualTo("terminal redirect");
      assertThat(inside.requests()).isEmpty();
    }
    assertThat(receiver.requests()).hasSize(1);
  }

  @Test
  void theErrorSaysWhatTheReceiverSaidOnOneShortLine() {
    String body = "no\r\n\u0000such\u001b[31m order\u202e" + "🚀".repeat(400);
    Outcome outcome = answering(Receiver.Answer.of(400, body));
    assertThat(Hooks.error(outcome))
        .startsWith("HTTP 400:\nno \\u0000such\\u001b[31m order\\u202e🚀")
        .endsWith("🚀...")
        .hasSizeLessThan(600);
  }

  @Test
  void theErrorHidesSecretsThatTheReceiverSendsBack() {
    receiver.behave(r -> Receiver.Answer.of(401, "bad token " + r.header("authorization")));
    Outcome outcome = Hooks.send(Hooks.to(receiver).header("authorization", "Bearer t0ps3cret"));
    assertThat(receiver.request().header("authorization")).isEqualTo("Bearer t0ps3cret");
    assertThat(Hooks.error(outcome)).isEqualTo("HTTP 401:\nbad token ***");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "t0ps3cret",
        "T0PS3CRET",
        "dXNlcjpodW50ZXIy",
        "hunter2",
        "c2lnbmluZyBrZXkgZm9yIHRlc3RzIG9ubHkgISE=",
        Hooks.SECRET,
        "signing key for tests only !!",
        "inthepath",
        "inthequery",
        "in+the query",
        "key-1",
        "value-1",
      })
  void theErrorHidesEveryPartOfASecret(String part) {
    receiver.answer(Receiver.Answer.of(401, "I got <" + part + "> from you, \u0000" + part));
    Outcome outcome =
        Hooks.send(
            WebhookConfig.to(
                    "http://127.0.0.1:%d/inthepath/x?a=inthequery&b=in%%2Bthe+query"
                        .formatted(receiver.port()))
                .allowNet("127.0.0.1")
                .key(Hooks.SECRET)
                .header("authorization", "Bearer t0ps3cret")
                .header("x-login", "Basic dXNlcjpodW50ZXIy")
                .header("x-keys", "key-1=value-1; key-2=\"value-2\""));
    assertThat(Hooks.error(outcome))
        .doesNotContainIgnoringCase(part)
        .isEqualTo("HTTP 401:\nI got <***> from you, \\u0000***");
  }

  @Test
  @Tag("EN-10")
  void goneDisablesTheEndpointUntilItIsEnabled() {
    Queue<String> heard = new ConcurrentLinkedQueue<>();
    receiver.answer(Receiver.Answer.of(410, "bye"));
    try (WebhookDestination destination = Hooks.open(Hooks.to(receiver).onGone(heard::add))) {
      Outcome first = Hooks.send(destination, Hooks.message("1"));
      assertThat(first).isEqualTo(Outcome.unavailable("endpoint_gone", "HTTP 410:\nbye"));
      assertThat(destination.gone()).isTrue();
      assertThat(List.copyOf(heard)).containsExactly("http://127.0.0.1:" + receiver.port());
      receiver.answer(Receiver.Answer.of(200));
      assertThat(Hooks.kind(Hooks.send(destination, Hooks.message("2"))))
          .isEqualTo("unavailable endpoint_gone");
      assertThat(receiver.requests()).hasSize(1);
      destination.enable();
      assertThat(destination.gone()).isFalse();
      assertThat(Hooks.kind(Hooks.send(destination, Hooks.message("2")))).isEqualTo("delivered");
      assertThat(heard).hasSize(1);
    }
  }

  @Test
  void aListenerThatThrowsChangesNothing() {
    receiver.answer(Receiver.Answer.of(410));
    Outcome outcome =
        Hooks.send(
            Hooks.to(receiver)
                .onGone(
                    endpoint -> {
                      throw new IllegalStateException("listener");
                    }));
    assertThat(Hooks.kind(outcome)).isEqualTo("unavailable endpoint_gone");
  }
}

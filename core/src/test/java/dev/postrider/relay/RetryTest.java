package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Backoff;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class RetryTest {
  @AutoClose private final Post post = new Post();

  private static RouteOptions backoff(int baseSeconds, int maxSeconds) {
    return RouteOptions.DEFAULT.withRetry(
        RetryPolicy.DEFAULT.withBackoff(
            new Backoff(Duration.ofSeconds(baseSeconds), Duration.ofSeconds(maxSeconds), 0)));
  }

  private static RouteOptions attempts(int most) {
    return RouteOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withMaxAttempts(most));
  }

  private void startAnswering(Outcome outcome, RouteOptions how) {
    post.start(
        post.builder()
            .destination("here", HandlerDestination.inline(message -> outcome))
            .route("shop", "*", "here", how));
  }

  private void untilAttempts(UUID id, int count) {
    await().until(() -> post.attempts(id).size() == count && !post.state(id).equals("processing"));
  }

  /** Seconds from the last attempt to the next. */
  private long delayOf(UUID id) {
    return post.database.count(
        "select extract(epoch from next_attempt_at - updated_at)::int"
            + " from postrider.message_state where id = '"
            + id
            + "'");
  }

  @Test
  @Tag("EN-10")
  void delaysDoubleUpToTheTopicsOwnLimit() {
    UUID quick = post.send("quick", null);
    UUID slow = post.send("slow", null);
    post.start(
        post.builder()
            .destination(
                "here", HandlerDestination.inline(m -> Outcome.retryable("busy", "not now")))
            .route("shop", "quick", "here", backoff(10, 30))
            .route("shop", "slow", "here", backoff(100, 3600)));
    untilAttempts(quick, 1);
    untilAttempts(slow, 1);
    assertThat(delayOf(quick)).isEqualTo(20);
    assertThat(delayOf(slow)).isEqualTo(200);
    post.makeDue();
    untilAttempts(quick, 2);
    untilAttempts(slow, 2);
    assertThat(delayOf(quick)).isEqualTo(30);
    assertThat(delayOf(slow)).isEqualTo(400);
  }

  @Test
  @Tag("EN-10")
  void retryAfterIsRespectedWhenLongerThanTheBackoff() {
    UUID id = post.send("orders", null);
    AtomicInteger calls = new AtomicInteger();
    post.start(
        HandlerDestination.inline(
            message ->
                Outcome.retryable(
                    "429",
                    "slow down",
                    Duration.ofSeconds(calls.incrementAndGet() == 1 ? 777 : 1))));
    untilAttempts(id, 1);
    assertThat(delayOf(id)).isEqualTo(777);
    post.makeDue();
    untilAttempts(id, 2);
    assertThat(delayOf(id)).isBetween(16L, 24L);
  }

  @Test
  @Tag("EN-10")
  void aTerminalErrorIsDeadAtOnce() {
    UUID id = post.send("orders", null);
    startAnswering(Outcome.terminal("422", "no such account"), RouteOptions.DEFAULT);
    await().until(() -> post.state(id).equals("dead"));
    assertThat(post.attempts(id)).containsExactly("FAILED");
    assertThat(post.database.value("select code || ': ' || error from postrider.dead_letter"))
        .isEqualTo("422: no such account");
  }

  @Test
  @Tag("EN-10")
  void isDeadAfterTheLastAttempt() {
    UUID id = post.send("orders", null);
    startAnswering(Outcome.retryable("503", "busy"), attempts(3));
    await()
        .until(
            () -> {
              post.makeDue();
              return post.state(id).equals("dead");
            });
    assertThat(post.attempts(id)).containsExactly("RETRYABLE", "RETRYABLE", "FAILED");
  }

  @Test
  @Tag("PO-9")
  void theOutcomeDecidesAndNeverTheText() {
    UUID retried = post.send("retried", null);
    UUID dead = post.send("dead", null);
    post.start(
        HandlerDestination.inline(
            message ->
                message.route().topic().equals("retried")
                    ? Outcome.retryable("x17", "permanent failure: invalid, rejected, fatal")
                    : Outcome.terminal("x18", "temporary timeout, please try again")));
    untilAttempts(retried, 1);
    await().until(() -> post.state(dead).equals("dead"));
    assertThat(post.state(retried)).isEqualTo("pending");
    assertThat(post.database.column("select code from postrider.attempt order by code"))
        .containsExactly("x17", "x18");
  }

  @Test
  @Tag("PO-9")
  void anUnexpectedExceptionIsRetried() {
    UUID id = post.send("orders", null);
    post.start(
        HandlerDestination.inline(
            message -> {
              throw new IllegalStateException("invalid");
            }));
    untilAttempts(id, 1);
    assertThat(post.attempts(id)).containsExactly("RETRYABLE");
    assertThat(post.database.value("select code from postrider.attempt"))
        .isEqualTo("handler_threw");
    assertSummary("java.lang.IllegalStateException", "invalid");
  }

  /** An exception's message may quote the payload, as those of JSON parsers do. */
  private void assertSummary(String summary, String reply) {
    String error = post.database.value("select error from postrider.attempt");
    assertThat(error).isEqualTo(ErrorReport.of(summary, reply));
    assertThat(ErrorReport.withoutReply(error)).isEqualTo(summary);
  }

  @Test
  @Tag("PO-9")
  void whatADestinationThrowsIsKeptApartFromItsClass() {
    Logger logger = (Logger) LoggerFactory.getLogger("dev.postrider");
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    try {
      UUID id = post.send("orders", null);
      post.start(
          (batch, answers) -> {
            String text = batch.get(0).text();
            throw new IllegalArgumentException(text, new IllegalStateException(text));
          });
      untilAttempts(id, 1);
      assertSummary("java.lang.IllegalArgumentException", "{\"n\":0}");
    } finally {
      logger.detachAppender(log);
    }
    // The log has the class and the stack, never the message.
    String logged = log.list.stream().map(RetryTest::printed).collect(Collectors.joining("\n"));
    assertThat(logged)
        .contains("event=outbox_destination_threw destination=here")
        .contains("java.lang.IllegalArgumentException")
        .contains("java.lang.IllegalStateException")
        .contains("at dev.postrider.relay.RetryTest")
        .doesNotContain("{\"n\"");
  }

  /** An event as an appender writes it, with the stack. */
  private static String printed(ILoggingEvent event) {
    return event.getFormattedMessage()
        + "\n"
        + (event.getThrowableProxy() == null
            ? ""
            : ThrowableProxyUtil.asString(event.getThrowableProxy()));
  }

  @Test
  @Tag("HE-7")
  void theDefaultBacksOffFromTenSecondsToAQuarterHourAndGivesUpAfterTen() {
    RetryPolicy policy = RetryPolicy.DEFAULT;
    for (int attempts = 1; attempts <= 10; attempts++) {
      double middle = Math.min(Math.pow(2, attempts) * 5_000, 900_000);
      assertThat((double) policy.backoff().delay(attempts, 0.5).toMillis())
          .isBetween(middle - 1, middle + 1);
      assertThat(policy.backoff().delay(attempts, 0))
          .isLessThan(policy.backoff().delay(attempts, 1));
    }
    assertThat(policy.maxAttempts()).isEqualTo(10);

    UUID id = post.send("orders", null);
    startAnswering(Outcome.retryable("down", "broker is down"), RouteOptions.DEFAULT);
    await()
        .until(
            () -> {
              post.makeDue();
              return post.state(id).equals("dead");
            });
    assertThat(post.attempts(id)).hasSize(10).endsWith("FAILED");
  }

  @Test
  void strangeErrorTextsAreRecordedAsFarAsPossible() {
    UUID id = post.send("orders", null);
    String strange = "nul\0 surrogate \uD83D half " + "é".repeat(5000);
    startAnswering(Outcome.terminal(strange, strange), RouteOptions.DEFAULT);
    await().until(() -> post.state(id).equals("dead"));
    assertThat(post.database.value("select error from postrider.attempt")).startsWith("nul  surr");
  }
}

package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Failures whose messages hold what callers sent: it must neither forge a line nor be kept. */
@Tag("OP-3")
class FailureLogTest {
  private static final String MESSAGE =
      "ERROR: invalid value \"x\revent=forged\"\n  Detail: Failing row contains (secret).";

  @Test
  void aRefusedValueIsOneLineWithoutItsDetail() {
    assertThat(logged(new SQLException(MESSAGE, "22P02"), 422))
        .contains("event=server_value_refused state=22P02")
        .doesNotContain("secret");
  }

  @Test
  void aDatabaseThatFailsIsOneLineWithoutItsDetail() {
    assertThat(logged(new SQLException(MESSAGE, "08006"), 503))
        .contains("event=server_database_failed state=08006")
        .doesNotContain("secret");
  }

  @Test
  void anUnexpectedFailureHasItsStackAndNotItsMessage() {
    assertThat(logged(new SQLException(MESSAGE, "42501"), 500))
        .contains("event=server_failed state=42501", "java.sql.SQLException", "at dev.postrider")
        .doesNotContain("secret");
    IllegalStateException nested =
        new IllegalStateException("secret", new IllegalArgumentException("secret"));
    assertThat(logged(nested, 500))
        .contains("java.lang.IllegalStateException", "java.lang.IllegalArgumentException")
        .doesNotContain("secret");
  }

  @Test
  void aReplayThatFailsQuotesNoRow() {
    Logger logger = (Logger) LoggerFactory.getLogger("dev.postrider.server.operate");
    ListAppender<ILoggingEvent> log = appender(logger);
    try (Desk desk = Desk.open()) {
      desk.enqueue("'shop', 'orders'");
      desk.carry(1, "ok");
      desk.postgres.execute("alter table postrider.queue add constraint once check (delivery < 2)");
      String body = "{\"filter\": {\"topic\": \"orders\"}}";
      assertThat(desk.post(desk.operator, "/v1/replays", body).status()).isEqualTo(202);
      await().until(() -> !List.copyOf(log.list).isEmpty());
    } finally {
      logger.detachAppender(log);
    }
    assertThat(printed(log.list.get(0)))
        .startsWith("event=replay_failed job=1 error=")
        .contains("violates check constraint", "PSQLException", "at dev.postrider")
        .doesNotContain("Failing row");
  }

  private static ListAppender<ILoggingEvent> appender(Logger logger) {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    return log;
  }

  private static String logged(Exception failure, int status) {
    Logger logger = (Logger) LoggerFactory.getLogger("dev.postrider.server.api");
    ListAppender<ILoggingEvent> log = appender(logger);
    logger.setLevel(Level.INFO);
    TestFeature fails =
        new TestFeature(
            () -> {
              throw failure;
            });
    try (Desk desk = Desk.open(server -> server.feature(fails))) {
      assertThat(desk.get(desk.viewer, "/v1/test").status()).isEqualTo(status);
    } finally {
      logger.detachAppender(log);
      logger.setLevel(null);
    }
    assertThat(log.list)
        .isNotEmpty()
        .allSatisfy(
            event ->
                assertThat(event.getFormattedMessage())
                    .doesNotContain("\n", "\r")
                    .startsWith("event=server_"));
    return log.list.stream().map(FailureLogTest::printed).collect(Collectors.joining());
  }

  private static String printed(ILoggingEvent event) {
    return event.getFormattedMessage()
        + (event.getThrowableProxy() == null
            ? ""
            : ThrowableProxyUtil.asString(event.getThrowableProxy()));
  }
}

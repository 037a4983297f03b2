package dev.postrider.observe;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.postrider.enqueue.Outbox;
import dev.postrider.internal.text.LogLine;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Settlement.Decision;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LoggingListenerTest {
  private final Logger logger = (Logger) LoggerFactory.getLogger("dev.postrider");
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final AtomicLong clock = new AtomicLong();
  private final LoggingListener listener = new LoggingListener(clock::get);

  @BeforeEach
  void listen() {
    logger.setLevel(Level.DEBUG);
    logger.setAdditive(false);
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(log);
    logger.setLevel(null);
    logger.setAdditive(true);
  }

  private ILoggingEvent last() {
    return log.list.get(log.list.size() - 1);
  }

  @Test
  @Tag("CH-8")
  void everyOutcomeIsOneLineAtItsLevel() {
    listener.settled("rails", Samples.settled(Decision.DELIVERED, null, null));
    assertThat(last().getLevel()).isEqualTo(Level.DEBUG);
    assertThat(last().getFormattedMessage())
        .startsWith("event=outbox_publish_succeeded destination=rails id=")
        .contains(" namespace=shop topic=orders event_type=paid attempt=3 delivery=1 latency_ms=7");

    listener.settled("rails", Samples.settled(Decision.RETRY, "503", "try\nlater \"please\""));
    assertThat(last().getLevel()).isEqualTo(Level.WARN);
    assertThat(last().getFormattedMessage())
        .startsWith("event=outbox_publish_failed destination=rails id=")
        .endsWith(" retry_ms=5000 code=503 error=\"try\\nlater \\\"please\\\"\"");

    listener.settled("rails", Samples.settled(Decision.DEAD_BLOCKING, "bad_iban", "no"));
    assertThat(last().getLevel()).isEqualTo(Level.ERROR);
    assertThat(last().getFormattedMessage())
        .startsWith("event=outbox_event_dead_lettered destination=rails id=")
        .endsWith(" blocks_key=true code=bad_iban error=no");
  }

  @Test
  void payloadsAndHeaderValuesAreNeverLogged() {
    for (Decision decision : Decision.values()) {
      listener.settled("rails", Samples.settled(decision, "code", "error"));
      listener.conflict("rails", Samples.settled(decision, "code", "error"));
    }
    assertThat(log.list).hasSize(2 * Decision.values().length);
    assertThat(log.list).noneMatch(line -> line.getFormattedMessage().contains(Samples.SECRET));
  }

  @Test
  void aFloodIsCutAndCounted() {
    for (int i = 0; i < 1000; i++) {
      listener.settled("rails", Samples.settled(Decision.RETRY, "503", "down"));
      listener.claimed(1, Duration.ZERO);
    }
    assertThat(log.list).hasSize(20);
    listener.settled("other", Samples.settled(Decision.RETRY, "503", "down"));
    assertThat(log.list).hasSize(21);
    clock.addAndGet(Duration.ofSeconds(11).toNanos());
    listener.woken("poll");
    assertThat(last().getFormattedMessage())
        .isEqualTo(
            "event=outbox_log_suppressed of=outbox_publish_failed destination=rails lines=980");
    listener.settled("rails", Samples.settled(Decision.RETRY, "503", "down"));
    assertThat(log.list).hasSize(23);
  }

  @Test
  void noTextCanForgeALine() {
    assertThat(LogLine.of("x").put("e", "a\r\nevent=y\u2028\u202e\u0000b\\").put("n", null))
        .hasToString("event=x e=\"a\\r\\nevent=y\\u2028\\u202e\\u0000b\\\\\"");
  }

  @Test
  void breakersConflictsAndTheReaperAreHeard() {
    listener.breaker("rails", "open");
    listener.breaker("rails", "closed");
    listener.reaped(7);
    listener.conflict("rails", Samples.settled(Decision.DELIVERED, null, null));
    assertThat(log.list)
        .extracting(line -> line.getLevel() + " " + line.getFormattedMessage())
        .startsWith(
            "WARN event=outbox_breaker_changed destination=rails state=open",
            "INFO event=outbox_breaker_changed destination=rails state=closed",
            "WARN event=outbox_reaper_requeued messages=7")
        .last()
        .asString()
        .startsWith("WARN event=outbox_settle_conflict destination=rails id=")
        .endsWith("refused=DELIVERED");
  }

  @Test
  @Tag("CH-8")
  void anEnqueueIsLoggedWithoutItsPayload() throws Exception {
    try (Connection connection = TestDatabase.create().transaction()) {
      new Outbox()
          .enqueue(
              connection,
              NewMessage.to("shop", "orders").eventType("paid").json("{\"a\":\"secret\"}").build());
    }
    assertThat(last().getLevel()).isEqualTo(Level.DEBUG);
    assertThat(last().getFormattedMessage())
        .startsWith("event=outbox_event_enqueued id=")
        .endsWith(" namespace=shop topic=orders event_type=paid duplicate=false")
        .doesNotContain("secret");
  }
}

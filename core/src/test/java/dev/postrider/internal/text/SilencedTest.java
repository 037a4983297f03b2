package dev.postrider.internal.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.jdbc.Advice;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import dev.postrider.observe.RelayListener;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Failures whose messages quote a payload or a row. */
@Tag("CH-8")
class SilencedTest {
  private static final String DETAIL =
      "ERROR: permission denied\n  Detail: Failing row contains (4111).\n  Hint: none";

  private final Logger logger = (Logger) LoggerFactory.getLogger("dev.postrider");
  private final Lines log = new Lines();
  private final TestDatabase database = TestDatabase.create();

  /** All that is logged, with stacks. */
  private static final class Lines extends AppenderBase<ILoggingEvent> {
    private final List<String> lines = new CopyOnWriteArrayList<>();

    @Override
    protected void append(ILoggingEvent event) {
      lines.add(
          event.getFormattedMessage()
              + (event.getThrowableProxy() == null
                  ? ""
                  : ThrowableProxyUtil.asString(event.getThrowableProxy())));
    }

    private boolean has(String... parts) {
      return lines.stream().anyMatch(line -> List.of(parts).stream().allMatch(line::contains));
    }
  }

  @BeforeEach
  void listen() {
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(log);
  }

  @Test
  void ofADatabaseErrorTheFirstLineAndTheAdviceAreSaid() {
    SQLException refused = new SQLException(DETAIL, "42501");
    assertThat(Silenced.text(refused)).isEqualTo("permission denied");
    assertThat(Silenced.text(new IllegalStateException("4111", refused)))
        .isEqualTo("permission denied");
    assertThat(Silenced.text(Advice.on(refused, Schema.DEFAULT, "relay", null)))
        .startsWith("permission denied\nThe login needs a role.")
        .doesNotContain("4111");
  }

  @Test
  void ofOtherFailuresOnlyWhatWeExpectedIsSaid() {
    assertThat(Silenced.text(new PostriderException("no such file\n4111")))
        .isEqualTo("no such file");
    assertThat(Silenced.text(new IOException("the disk is full"))).isEqualTo("the disk is full");
    assertThat(Silenced.text(new NumberFormatException("4111")))
        .isEqualTo("java.lang.NumberFormatException");
    assertThat(Silenced.text(new SQLException())).isEqualTo("null");
  }

  @Test
  void aListenerThatQuotesThePayloadIsNamedWithItsStackOnly() {
    database.execute("select postrider.enqueue('shop', 'orders', '\"4111-1111\"')");
    RelayListener quoting =
        new RelayListener() {
          @Override
          public void sent(String destination, Message message) {
            throw new IllegalStateException(
                "cannot count " + new String(message.payload(), StandardCharsets.UTF_8));
          }
        };
    try (Relay relay = relay(quoting, Outcome.delivered())) {
      await().until(() -> log.has("event=outbox_listener_threw", "IllegalStateException"));
      assertThat(relay.status().running()).isTrue();
    }
    assertThat(log.lines).noneMatch(line -> line.contains("4111"));
  }

  @Test
  void aRowThatTheDatabaseRefusesIsNotQuoted() {
    database.execute(
        "alter table postrider.attempt add constraint no_errors check (error is null)");
    database.execute("select postrider.enqueue('shop', 'orders', '{}')");
    try (Relay relay =
        relay(new RelayListener() {}, Outcome.terminal("refused", "no card 4111-1111"))) {
      await().until(() -> log.has("event=outbox_database_failed", "\\\"no_errors\\\""));
      await().until(() -> relay.status().failure() != null);
      assertThat(relay.status().failure()).contains("no_errors").doesNotContain("4111");
      database.execute("alter table postrider.attempt drop constraint no_errors");
    }
    assertThat(log.lines.stream().filter(line -> line.contains("outbox_database_failed")))
        .noneMatch(line -> line.contains("4111"));
  }

  private Relay relay(RelayListener listener, Outcome answer) {
    return Relay.builder(database.dataSource())
        .config(RelayConfig.defaults().withCarriers(1)) // the status shows the first one's failure
        .listener(listener)
        .destination("here", HandlerDestination.inline(message -> answer))
        .route("shop", "*", "here")
        .build()
        .start();
  }
}

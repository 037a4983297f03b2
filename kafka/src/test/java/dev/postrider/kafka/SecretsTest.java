package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import dev.postrider.message.PostriderException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Passwords appear in no log line, no outcome, no error and no toString. */
@Tag("OP-6")
class SecretsTest {
  private static final String PASSWORD = "correct-horse-battery";

  private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
  private final Logger kafka = (Logger) LoggerFactory.getLogger("org.apache.kafka");
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          lines.add(
              event.getFormattedMessage() + ThrowableProxyUtil.asString(event.getThrowableProxy()));
        }
      };

  @BeforeEach
  void listen() {
    appender.start();
    root.addAppender(appender);
    kafka.setLevel(Level.INFO);
    kafka.setAdditive(true);
  }

  @AfterEach
  void stop() {
    root.detachAppender(appender);
    kafka.setLevel(Level.ERROR);
  }

  @Test
  void ofAUserWhoIsRefused() throws Exception {
    KafkaConfig config =
        Broker.configFor("nobody", PASSWORD).property("registry.password", PASSWORD).build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      String outcome = Sample.deliver(destination, Sample.message("k", "{}", Map.of())).toString();
      assertThat(outcome).contains("kafka_authentication").doesNotContain(PASSWORD);
      assertThat(destination + " " + config).contains("KafkaConfig").doesNotContain(PASSWORD);
    }
    assertThat(lines).anyMatch(line -> line.contains("sasl.jaas.config = [hidden]"));
    assertThat(lines).anyMatch(line -> line.contains("kafka_producer_replaced"));
    assertThat(lines).noneMatch(line -> line.contains(PASSWORD));
  }

  @Test
  void ofASettingThatCannotBeRead() {
    for (String jaas :
        List.of(
            "ScramLoginModule required username=\"u\" password=\"" + PASSWORD,
            "ScramLoginModule " + PASSWORD + " username=\"u\";",
            "ScramLoginModule required username=u " + PASSWORD + ";",
            "ScramLoginModule required password=" + PASSWORD + ";;")) {
      KafkaConfig config =
          Broker.configFor("nobody", "x").property("sasl.jaas.config", jaas).build();
      assertThatThrownBy(() -> KafkaDestination.open(config))
          .isInstanceOf(PostriderException.class)
          .hasMessageNotContaining(PASSWORD)
          .hasNoCause();
    }
    assertThat(lines).noneMatch(line -> line.contains(PASSWORD));
  }

  @Test
  void areTakenOutOfAnyText() {
    Secrets secrets =
        new Secrets(
            Map.of(
                "sasl.jaas.config", "x.Y required user='carol' password=\"" + PASSWORD + "\";",
                "ssl.key.password", "hunter22",
                "client.id", "billing"));
    assertThat(secrets.scrub("billing: " + PASSWORD + ", carol, hunter22"))
        .isEqualTo("billing: [hidden], [hidden], [hidden]");
  }
}

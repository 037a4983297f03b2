package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.PostriderException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Passwords appear in no log line, no outcome, no error and no toString. */
@Tag("OP-6")
class SecretMaskTest {
  private static final String PASSWORD = "correct-horse-battery";

  @AutoClose private final LogLines lines = new LogLines();

  @Test
  void ofAUserWhoIsRefused() throws Exception {
    KafkaConfig config =
        Broker.configFor("nobody", PASSWORD).property("registry.password", PASSWORD).build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      String outcome = Sample.deliver(destination, Sample.message("k", "{}", Map.of())).toString();
      assertThat(outcome).contains("kafka_authentication").doesNotContain(PASSWORD);
      assertThat(destination + " " + config).contains("KafkaConfig").doesNotContain(PASSWORD);
    }
    assertThat(lines.all()).anyMatch(line -> line.contains("sasl.jaas.config = [hidden]"));
    assertThat(lines.all()).anyMatch(line -> line.contains("kafka_producer_replaced"));
    assertThat(lines.all()).noneMatch(line -> line.contains(PASSWORD));
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
    assertThat(lines.all()).noneMatch(line -> line.contains(PASSWORD));
  }

  @Test
  void areTakenOutOfAnyText() {
    SecretMask secrets =
        new SecretMask(
            Map.of(
                "sasl.jaas.config", "x.Y required user='carol' password=\"" + PASSWORD + "\";",
                "ssl.key.password", "hunter22",
                "client.id", "billing"));
    assertThat(secrets.scrub("billing: " + PASSWORD + ", carol, hunter22"))
        .isEqualTo("billing: [hidden], [hidden], [hidden]");
  }
}

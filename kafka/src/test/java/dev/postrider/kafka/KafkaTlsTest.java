package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** TLS with a certificate that only its own store knows, made out to localhost. */
@Tag("OP-6")
class KafkaTlsTest {
  private static final String STRANGER = "a-strangers-password";

  @AutoClose private final LogLines lines = new LogLines();

  private static KafkaConfig.Builder at(String address, Map<String, String> settings) {
    return KafkaConfig.builder(address).deliveryTimeout(Duration.ofSeconds(5)).properties(settings);
  }

  private void assertNoSecretIsLogged() {
    assertThat(lines.all()).anyMatch(line -> line.contains("ssl.truststore.password = [hidden]"));
    assertThat(lines.all())
        .noneMatch(line -> line.contains(Broker.KEYS.password()) || line.contains(STRANGER));
  }

  @Test
  void deliversToABrokerWhoseCertificateIsTrusted() throws Exception {
    try (Topic topic = Topic.create();
        KafkaDestination destination =
            KafkaDestination.open(
                at(Broker.SERVER.tlsAddress(), Broker.KEYS.trust()).topic(topic.name).build())) {
      assertThat(Sample.code(Sample.deliver(destination, Sample.message("k", "{}", Map.of()))))
          .isEqualTo("delivered");
      assertThat(topic.records()).hasSize(1);
      assertThat(destination.toString()).doesNotContain(Broker.KEYS.password());
    }
    assertNoSecretIsLogged();
  }

  @Test
  void aCertificateOfNobodyWeTrustIsRefused() throws Exception {
    KeyStore stranger = KeyStore.create(STRANGER);
    assertRefused(at(Broker.SERVER.tlsAddress(), stranger.trust()));
    assertNoSecretIsLogged();
  }

  @Test
  void aCertificateForAnotherHostIsRefused() throws Exception {
    String otherName = Broker.SERVER.tlsAddress().replace("localhost", "127.0.0.1");
    assertRefused(at(otherName, Broker.KEYS.trust()));
  }

  private static void assertRefused(KafkaConfig.Builder config) throws Exception {
    try (KafkaDestination destination = KafkaDestination.open(config.build())) {
      String outcome = Sample.deliver(destination, Sample.message("k", "{}", Map.of())).toString();
      assertThat(outcome)
          .contains("Unavailable", "kafka_authentication", "SSL handshake failed")
          .doesNotContain(STRANGER, Broker.KEYS.password());
    }
  }

  @Test
  void aStoreThatCannotBeOpenedIsNamedWithoutItsPassword() {
    Map<String, String> wrong = new HashMap<>(Broker.KEYS.trust());
    wrong.put("ssl.truststore.password", STRANGER);
    KafkaConfig config = at(Broker.SERVER.tlsAddress(), wrong).build();
    assertThatThrownBy(() -> KafkaDestination.open(config))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("keys.p12")
        .hasMessageNotContaining(STRANGER)
        .hasNoCause();
    assertNoSecretIsLogged();
  }
}

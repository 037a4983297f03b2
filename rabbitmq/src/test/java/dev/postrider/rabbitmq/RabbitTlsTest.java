package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.Outcome;
import dev.postrider.testkit.RabbitServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS with a certificate that only its own trust store knows, made out to localhost. */
@Tag("OP-6")
class RabbitTlsTest {
  private static final String STORE_PASSWORD = "changeit";

  @TempDir static Path directory;
  private static RabbitServer server;

  @BeforeAll
  static void startBroker() throws Exception {
    run(
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
        "-keyout",
        "key.pem",
        "-out",
        "cert.pem");
    run(
        "keytool",
        "-importcert",
        "-noprompt",
        "-alias",
        "broker",
        "-file",
        "cert.pem",
        "-keystore",
        "trust.p12",
        "-storepass",
        STORE_PASSWORD);
    server =
        RabbitServer.start(
            Map.of(
                "listeners.ssl.default", "127.0.0.1:${tlsPort}",
                "ssl_options.certfile", directory.resolve("cert.pem").toString(),
                "ssl_options.keyfile", directory.resolve("key.pem").toString()));
    try (TestBroker broker = new TestBroker(server)) {
      broker.exchangeAndQueue("events", Map.of());
    }
  }

  private static void run(String... command) throws Exception {
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("output").toFile())
            .start();
    assertThat(process.waitFor()).as("%s", List.of(command)).isZero();
  }

  @AfterAll
  static void stopBroker() {
    if (server != null) {
      server.close();
    }
  }

  private static Outcome answer(Broker.Builder broker) throws Exception {
    RabbitConfig config = RabbitConfig.to(broker.build()).exchange("events").build();
    try (RabbitDestination destination = RabbitDestination.open(config)) {
      // The first handshake may take longer than a destination waits for it.
      return await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> Given.answer(destination, Given.message("orders")),
              outcome -> !outcome.toString().contains("not connected yet"));
    }
  }

  private static Path trustStore() {
    return directory.resolve("trust.p12");
  }

  @Test
  void deliversToABrokerWhoseCertificateIsTrusted() throws Exception {
    Broker.Builder trusted =
        Broker.at("localhost:" + server.tlsPort()).tls(trustStore(), STORE_PASSWORD);
    assertThat(Given.code(answer(trusted))).isEqualTo("delivered");
  }

  @Test
  void aCertificateForAnotherHostIsRefused() throws Exception {
    Broker.Builder otherName =
        Broker.at("127.0.0.1:" + server.tlsPort()).tls(trustStore(), STORE_PASSWORD);
    assertRefusedForItsCertificate(answer(otherName));
  }

  @Test
  void aCertificateOfNobodyWeTrustIsRefused() throws Exception {
    Broker.Builder untrusted = Broker.at("localhost:" + server.tlsPort()).tls();
    assertRefusedForItsCertificate(answer(untrusted));
  }

  private static void assertRefusedForItsCertificate(Outcome outcome) {
    assertThat(Given.code(outcome)).isEqualTo("unavailable not_connected");
    assertThat(outcome.toString()).contains("Cert");
  }
}

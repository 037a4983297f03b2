package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Outcome;
import java.net.InetAddress;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("OP-6")
class TlsTest {
  private static Outcome send(Certificate certificate, SSLContext trust) {
    try (Receiver receiver = new Receiver("127.0.0.1", certificate.server())) {
      Outcome outcome = Hooks.send(Hooks.toHost(receiver).sslContext(trust));
      boolean delivered = outcome instanceof Outcome.Delivered;
      assertThat(receiver.requests()).hasSize(delivered ? 1 : 0);
      return outcome;
    }
  }

  @Test
  void aTrustedCertificateOfTheHostWillDo() {
    Certificate certificate = Certificate.valid();
    assertThat(send(certificate, certificate.client())).isEqualTo(Outcome.delivered());
  }

  @Test
  void anExpiredCertificateIsRefusedAndNamed() {
    Certificate certificate = Certificate.expired();
    Outcome outcome = send(certificate, certificate.client());
    assertThat(Hooks.kind(outcome)).isEqualTo("unavailable tls_failed");
    assertThat(Hooks.error(outcome)).containsIgnoringCase("validity check failed");
  }

  @Test
  void aCertificateOfAnotherHostIsRefusedAndNamed() {
    Certificate certificate = Certificate.ofAnotherHost();
    Outcome outcome = send(certificate, certificate.client());
    assertThat(Hooks.kind(outcome)).isEqualTo("unavailable tls_failed");
    assertThat(Hooks.error(outcome)).contains("hooks.test");
  }

  @Test
  void aCertificateThatNobodyVouchesForIsRefused() throws Exception {
    Outcome outcome = send(Certificate.valid(), SSLContext.getDefault());
    assertThat(Hooks.kind(outcome)).isEqualTo("unavailable tls_failed");
  }

  /** By the rules that Java knows, straße is strasse: another host. */
  @Test
  void aHostInPunycodeStaysAsItIs() {
    String host = "xn--strae-oqa.test";
    Certificate certificate = Certificate.of(host);
    Queue<String> asked = new ConcurrentLinkedQueue<>();
    try (Receiver receiver = new Receiver("127.0.0.1", certificate.server())) {
      Outcome outcome =
          Hooks.send(
              WebhookConfig.to(receiver.url(host))
                  .key(Hooks.SECRET)
                  .lookup(
                      name -> {
                        asked.add(name);
                        return InetAddress.getAllByName("127.0.0.1");
                      })
                  .sslContext(certificate.client())
                  .allowNet("127.0.0.1"));
      assertThat(outcome).isEqualTo(Outcome.delivered());
      assertThat(asked).containsExactly(host);
      assertThat(receiver.request().header("host")).isEqualTo(host + ":" + receiver.port());
    }
  }

  @Test
  void aReceiverWithoutTlsIsNamed() {
    try (RawServer server =
        new RawServer(
            talk -> {
              talk.write("HTTP/1.1 400 Bad Request\r\n\r\n");
              talk.hang();
            })) {
      WebhookConfig.Builder builder =
          WebhookConfig.to("https://hooks.test:" + server.port())
              .key(Hooks.SECRET)
              .allowHost("hooks.test")
              .lookup(host -> InetAddress.getAllByName("127.0.0.1"));
      assertThat(Hooks.kind(Hooks.send(builder))).isEqualTo("unavailable tls_failed");
    }
  }
}

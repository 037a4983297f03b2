package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("OP-3")
class TlsTest {
  private static final String PASSWORD = "not-a-secret";
  @TempDir static Path directory;
  private static Path keystore;

  @BeforeAll
  static void makeCertificate() throws Exception {
    keystore = directory.resolve("server.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=dns:localhost,ip:127.0.0.1",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                keystore.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(keytool.exitValue()).isZero();
  }

  private static HttpClient trusting() throws Exception {
    KeyStore store = KeyStore.getInstance(keystore.toFile(), PASSWORD.toCharArray());
    KeyStore trust = KeyStore.getInstance("PKCS12");
    trust.load(null, null);
    trust.setCertificateEntry("server", store.getCertificate("server"));
    TrustManagerFactory managers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trust);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return HttpClient.newBuilder().sslContext(context).build();
  }

  private static void speaks(Tls tls) throws Exception {
    try (Desk desk = Desk.open(builder -> builder.config(Desk.CONFIG.withTls(tls)))) {
      assertThat(desk.server.url()).startsWith("https://");
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(desk.server.url() + "/v1/health/live"))
              .timeout(Duration.ofSeconds(20))
              .build();
      HttpResponse<String> answer = trusting().send(request, BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.headers().firstValue("Strict-Transport-Security")).isPresent();
      assertThat(answer.sslSession().orElseThrow().getProtocol()).isEqualTo("TLSv1.3");
    }
  }

  @Test
  void fromAKeystore() throws Exception {
    speaks(Tls.keystore(keystore, PASSWORD));
  }

  @Test
  void fromPemFiles() throws Exception {
    KeyStore store = KeyStore.getInstance(keystore.toFile(), PASSWORD.toCharArray());
    Path certificate = pem("CERTIFICATE", store.getCertificate("server").getEncoded());
    Key key = store.getKey("server", PASSWORD.toCharArray());
    speaks(Tls.pem(certificate, pem("PRIVATE KEY", key.getEncoded())));
  }

  private static Path pem(String kind, byte[] content) throws Exception {
    return Files.writeString(
        directory.resolve(kind.replace(' ', '-') + ".pem"),
        "-----BEGIN %s-----%n%s%n-----END %s-----%n"
            .formatted(kind, Base64.getMimeEncoder().encodeToString(content), kind));
  }

  @Test
  void whatIsWrongWithTheFilesIsSaidWithoutThePassword() {
    Tls wrong = Tls.keystore(keystore, "mistyped-password");
    assertThat(wrong.toString()).doesNotContain("mistyped");
    assertThatThrownBy(() -> Desk.open(builder -> builder.config(Desk.CONFIG.withTls(wrong))))
        .hasMessageContaining("TLS cannot be set up")
        .hasMessageNotContaining("mistyped");
    Path empty = directory.resolve("missing.pem");
    assertThatThrownBy(
            () -> Desk.open(builder -> builder.config(Desk.CONFIG.withTls(Tls.pem(empty, empty)))))
        .hasMessageContaining("missing.pem");
  }
}

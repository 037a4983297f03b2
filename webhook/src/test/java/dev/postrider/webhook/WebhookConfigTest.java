package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.Base64;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("OP-6")
class WebhookConfigTest {
  private static final String URL = "https://api.example.com/hooks/t0k3n?key=s3cret";

  @Test
  void saysEverythingThatIsWrongTogether() {
    assertThatThrownBy(
            () ->
                WebhookConfig.to("ftp://user:pw@api.example.com/#top")
                    .key("whsec_abc")
                    .key("hunter2hunter2")
                    .concurrency(0)
                    .connectTimeout(Duration.ofSeconds(30))
                    .responseTimeout(Duration.ZERO)
                    .retryAfterMax(Duration.ofDays(2))
                    .allowNet("10.0.0.1/8")
                    .header("host", "elsewhere")
                    .header("x-token", "line\r\nbreak")
                    .build())
        .isInstanceOf(PostriderException.class)
        .message()
        .contains("an https URL, got ftp")
        .contains("no user or password")
        .contains("no fragment")
        .contains("key 1: expected whsec_ and 24..64 bytes")
        .contains("key 2: expected a key that starts with whsec_ or whsk_")
        .contains("concurrency 1..1000, got 0")
        .contains("connectTimeout of at most the deadline, got PT30S")
        .contains("responseTimeout 1 ms..10 min, got PT0S")
        .contains("retryAfterMax 0..24 h, got PT48H")
        .contains("got 10.0.0.1/8")
        .contains("a header that may be set, got host")
        .contains("printable ASCII as the value of header x-token")
        .doesNotContain("hunter2", "abc", "break", "pw@");
  }

  @ParameterizedTest
  @CsvSource({"whsec_, 23", "whsec_, 65", "whsk_, 31", "whsk_, 33", "whpk_, 32"})
  void aKeyHasItsSize(String prefix, int bytes) {
    String key = prefix + Base64.getEncoder().encodeToString(new byte[bytes]);
    assertThatThrownBy(() -> WebhookConfig.to(URL).key(key).build())
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("key 1: expected ");
  }

  @Test
  void keysThatAreNoBase64AreNotQuoted() {
    assertThatThrownBy(() -> WebhookConfig.to(URL).key("whsec_!hunter2!").build())
        .hasMessageContaining("no base64")
        .hasNoCause()
        .message()
        .doesNotContain("hunter2");
  }

  @Test
  void eitherAKeyOrUnsigned() {
    assertThatThrownBy(() -> WebhookConfig.to(URL).build()).hasMessageContaining("got neither");
    assertThatThrownBy(() -> WebhookConfig.to(URL).key(Hooks.SECRET).unsigned().build())
        .hasMessageContaining("got both");
    assertThatCode(() -> WebhookConfig.to(URL).unsigned().build()).doesNotThrowAnyException();
  }

  @Test
  void plainHttpOnlyToWhatIsAllowed() {
    assertThatThrownBy(() -> WebhookConfig.to("http://api.example.com").key(Hooks.SECRET).build())
        .hasMessageContaining("got http");
    assertThatThrownBy(
            () ->
                WebhookConfig.to("http://10.2.0.1")
                    .key(Hooks.SECRET)
                    .allowNet("10.1.0.0/16")
                    .build())
        .hasMessageContaining("one that is private");
    assertThatThrownBy(
            () ->
                WebhookConfig.to("http://8.8.8.8")
                    .key(Hooks.SECRET)
                    .allowNet("10.1.0.0/16")
                    .build())
        .hasMessageContaining("not allowed without TLS");
    assertThatCode(
            () ->
                WebhookConfig.to("http://Inside.example.:8080")
                    .key(Hooks.SECRET)
                    .allowHost("inside.EXAMPLE")
                    .build())
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://api.example.com",
        "HTTPS://API.example.com:8443/x?y=z",
        "https://8.8.8.8/",
        "https://[2606:4700:4700::1111]/",
        "https://xn--bcher-kva.example/",
        "https://1password.com/",
      })
  void usualUrlsAreFine(String url) {
    assertThatCode(() -> WebhookConfig.to(url).key(Hooks.SECRET).build())
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "api.example.com",
        "https:/api.example.com",
        "https://",
        "https:///path",
        "https://a b/",
        "https://api.example.com:0/",
        "https://api.example.com:65536/",
        "https://user@api.example.com/",
        "https://@api.example.com/",
        "file:///etc/passwd",
        "gopher://api.example.com/",
        "jar:https://api.example.com/x.jar!/",
      })
  void otherUrlsAreNot(String url) {
    assertThatThrownBy(() -> WebhookConfig.to(url).key(Hooks.SECRET).build())
        .isInstanceOf(PostriderException.class);
  }

  @Test
  void showsNoSecrets() {
    WebhookConfig config =
        WebhookConfig.to(URL)
            .key(Hooks.SECRET)
            .header("authorization", "Bearer hunter2hunter2")
            .build();
    try (WebhookDestination destination = new WebhookDestination(config)) {
      assertThat(config.toString() + destination)
          .contains("https://api.example.com", "v1 key", "authorization")
          .doesNotContain("t0k3n", "s3cret", "hunter2", Hooks.SECRET.substring(6));
    }
  }
}

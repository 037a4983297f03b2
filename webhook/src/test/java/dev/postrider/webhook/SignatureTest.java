package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.EdECPrivateKey;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Signatures are verified by code that is not ours: the specification's library, and the JDK. */
@Tag("OP-6")
class SignatureTest {
  private static final String OLD =
      "whsec_" + base64("the older key, thirty-two bytes!".getBytes(StandardCharsets.UTF_8));
  private static final String STRANGE = "whsec_" + base64(new byte[32]);

  private final Receiver receiver = Receiver.plain();

  @AfterEach
  void stop() {
    receiver.close();
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private Receiver.Request sent(WebhookConfig.Builder builder, Message message) {
    try (WebhookDestination destination = Hooks.open(builder)) {
      assertThat(Hooks.send(destination, message)).isEqualTo(Outcome.delivered());
    }
    return receiver.request();
  }

  /** Throws unless the library accepts the request. */
  private static void verify(String secret, Receiver.Request request, String body)
      throws Exception {
    Map<String, List<String>> headers = new TreeMap<>();
    request.headers().forEach((name, value) -> headers.put(name, List.of(value)));
    new Webhook(secret).verify(body, HttpHeaders.of(headers, (name, value) -> true));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"order\": 7}", "", "{\"grüße\": \"日本語 🚀\"}", "a.b.c"})
  void theLibraryOfTheSpecificationAcceptsTheSignature(String payload) throws Exception {
    Receiver.Request request = sent(Hooks.to(receiver), Hooks.message(payload));
    assertThat(request.text()).isEqualTo(payload);
    verify(Hooks.SECRET, request, request.text());
    assertThatThrownBy(() -> verify(Hooks.SECRET, request, request.text() + " "))
        .isInstanceOf(WebhookVerificationException.class);
    assertThatThrownBy(() -> verify(STRANGE, request, request.text()))
        .isInstanceOf(WebhookVerificationException.class);
  }

  @Test
  void everyKeySignsSoThatReceiversCanChangeTheirs() throws Exception {
    Receiver.Request request = sent(Hooks.to(receiver).key(OLD), Hooks.message("{}"));
    assertThat(request.header("webhook-signature")).matches("v1,\\S{44} v1,\\S{44}");
    verify(Hooks.SECRET, request, "{}");
    verify(OLD, request, "{}");
  }

  @Test
  void anEd25519SignatureStandsBesideTheOther() throws Exception {
    KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    byte[] seed = ((EdECPrivateKey) pair.getPrivate()).getBytes().orElseThrow();
    String key = "whsk_" + base64(seed);
    byte[] binary = {0, (byte) 0xff, (byte) 0xfe, '.', 10};
    Message message = Hooks.message(new String(binary, StandardCharsets.ISO_8859_1));
    Receiver.Request request = sent(Hooks.to(receiver).key(key), message);
    String[] signatures = request.header("webhook-signature").split(" ", -1);
    assertThat(signatures[0]).startsWith("v1,");
    assertThat(signatures[1]).startsWith("v1a,");
    assertThat(verifies(pair.getPublic(), request, signatures[1])).isTrue();
    KeyPair other = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    assertThat(verifies(other.getPublic(), request, signatures[1])).isFalse();
  }

  @Test
  void aPrivateKeyMayCarryItsPublicHalf() throws Exception {
    KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    byte[] seed = ((EdECPrivateKey) pair.getPrivate()).getBytes().orElseThrow();
    byte[] encoded = pair.getPublic().getEncoded();
    ByteArrayOutputStream both = new ByteArrayOutputStream();
    both.writeBytes(seed);
    both.write(encoded, encoded.length - 32, 32);
    WebhookConfig.Builder builder =
        WebhookConfig.to(receiver.url())
            .allowNet("127.0.0.1")
            .key("whsk_" + base64(both.toByteArray()));
    Receiver.Request request = sent(builder, Hooks.message("{}"));
    assertThat(verifies(pair.getPublic(), request, request.header("webhook-signature"))).isTrue();
  }

  private static boolean verifies(PublicKey key, Receiver.Request request, String signature)
      throws Exception {
    Signature verifier = Signature.getInstance("Ed25519");
    verifier.initVerify(key);
    String head = request.header("webhook-id") + "." + request.header("webhook-timestamp") + ".";
    verifier.update(head.getBytes(StandardCharsets.US_ASCII));
    verifier.update(request.body());
    return verifier.verify(Base64.getDecoder().decode(signature.substring("v1a,".length())));
  }

  @Test
  void theIdStaysAndTheTimeIsNewForEachTry() {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.ofEpochSecond(1_700_000_000));
    UUID id = UUID.randomUUID();
    try (WebhookDestination destination = Hooks.open(Hooks.to(receiver).clock(clock(now)))) {
      Hooks.send(destination, Hooks.message(id, 1, "{}", Map.of()));
      now.set(Instant.ofEpochSecond(1_700_000_060));
      Hooks.send(destination, Hooks.message(id, 2, "{}", Map.of()));
    }
    List<String> seen = new ArrayList<>();
    receiver
        .requests()
        .forEach(r -> seen.add(r.header("webhook-id") + r.header("webhook-timestamp")));
    assertThat(seen).containsExactly(id + "1700000000", id + "1700000060");
    assertThat(receiver.requests().stream().map(r -> r.header("webhook-signature")).distinct())
        .hasSize(2);
  }

  private static Clock clock(AtomicReference<Instant> now) {
    return new Clock() {
      @Override
      public ZoneOffset getZone() {
        return ZoneOffset.UTC;
      }

      @Override
      public Clock withZone(ZoneId zone) {
        return this;
      }

      @Override
      public Instant instant() {
        return now.get();
      }
    };
  }

  @Test
  void withoutSignaturesOnlyIfAskedFor() {
    WebhookConfig.Builder builder =
        WebhookConfig.to(receiver.url()).allowNet("127.0.0.1").unsigned();
    Receiver.Request request = sent(builder, Hooks.message("{}"));
    assertThat(request.headers()).doesNotContainKey("webhook-signature");
    assertThat(request.headers()).containsKeys("webhook-id", "webhook-timestamp");
  }
}

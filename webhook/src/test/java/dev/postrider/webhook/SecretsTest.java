package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Receivers repeat secrets as their own libraries write them. */
class SecretsTest {
  private static final Secrets SECRETS =
      Secrets.of(
          List.of("Bearer ab/cd+ef=gh", "whsec_MfKQ9r8G/YqrTwjU+D8Z1g=="),
          URI.create("https://example.com/hook"));

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ab/cd+ef=gh",
        "ab\\/cd+ef=gh",
        "ab\\/cd\\u002Bef\\u003dgh",
        "AB/CD+EF=GH",
        "ab%2Fcd%2bef%3Dgh",
        "ab&#47;cd&#43;ef&#x3D;gh",
        "ab&#x2F;cd&#x2b;ef&#061;gh",
        "Bearer ab\\/cd+ef=gh",
        "MfKQ9r8G\\/YqrTwjU+D8Z1g==",
        "whsec_MfKQ9r8G\\/YqrTwjU\\u002bD8Z1g\\u003D\\u003d"
      })
  void isMaskedHoweverItIsWritten(String repeated) {
    assertThat(SECRETS.hide("{\"got\": \"" + repeated + "\"}")).isEqualTo("{\"got\": \"***\"}");
  }

  /** An answer is cut off somewhere: by us after 4,096 bytes, or by the receiver. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "got Bearer ab/cd+ef=g",
        "got Bearer ab\\/cd+e",
        "got Bearer ab%2Fcd%2",
        "got whsec_MfKQ9r8G/YqrTwjU+D8Z1g",
        "got whsec_MfKQ9r8G"
      })
  void isMaskedAlsoIfItsEndIsCutOff(String cut) {
    assertThat(SECRETS.hide(cut)).isEqualTo("got ***");
  }

  @Test
  void otherTextStays() {
    assertThat(SECRETS.hide("no such account: ab 12")).isEqualTo("no such account: ab 12");
  }
}

package dev.postrider.archive.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.RefusedException;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("OP-8")
class S3ConfigTest {
  @Test
  void allViolationsAreReportedTogether() {
    assertThatThrownBy(
            () ->
                S3Config.bucket("a/b")
                    .prefix("/x")
                    .region("eu central")
                    .endpoint("http://minio.internal:9000")
                    .credentials("AKIA", " ")
                    .storageClass("cold")
                    .connectTimeout(Duration.ZERO)
                    .readTimeout(Duration.ofDays(2))
                    .uploadTimeout(Duration.ofMillis(-1))
                    .attempts(0)
                    .build())
        .isInstanceOf(RefusedException.class)
        .hasMessageContainingAll(
            "bucket must",
            "prefix must",
            "region must",
            "endpoint must be https",
            "secretKey go together",
            "storageClass must",
            "connectTimeout must",
            "readTimeout must",
            "uploadTimeout must",
            "attempts must be from 1 to 20, got \"0\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/a", "a//b", "a/../b", "./a", "a//", "a\nb"})
  void prefixesThatServersWouldChangeAreRefused(String prefix) {
    assertThatThrownBy(() -> S3Config.bucket("b").prefix(prefix).build())
        .hasMessageContaining("prefix must");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "minio:9000",
        "ftp://minio",
        "https://",
        "https://ann:secret@minio",
        "https://minio?x",
        "https://minio#x",
        "https://mi nio"
      })
  void endpointsThatAreNoPlainUrlsAreRefused(String endpoint) {
    assertThatThrownBy(() -> S3Config.bucket("b").endpoint(endpoint).build())
        .hasMessageContaining("endpoint must")
        .message()
        .doesNotContain("secret");
  }

  @Test
  void plainHttpIsForThisMachineOrOnRequest() {
    assertThat(S3Config.bucket("b").endpoint("http://[::1]:9000").build().pathStyle).isTrue();
    assertThat(S3Config.bucket("b").endpoint("http://localhost:9000").build()).isNotNull();
    assertThat(S3Config.bucket("b").endpoint("http://minio:9000").allowPlain().build()).isNotNull();
  }

  @Test
  void itShowsNoSecret() {
    S3Config config =
        S3Config.bucket("b").prefix("p").credentials("AKIA", "s3cret").pathStyle(false).build();
    assertThat(config.toString()).isEqualTo("s3://b/p/").doesNotContain("s3cret");
    assertThat(config.pathStyle).isFalse();
  }
}

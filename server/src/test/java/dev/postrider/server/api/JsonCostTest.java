package dev.postrider.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("OP-3")
class JsonCostTest {
  /** Beyond what the length costs. */
  private static long values(String json) {
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    long more = JsonCost.of(bytes) - 5L * bytes.length;
    assertThat(more % 100).isZero();
    return more / 100;
  }

  @Test
  void eachValueCosts() {
    assertThat(JsonCost.of(new byte[0])).isZero();
    assertThat(values("1")).isZero();
    assertThat(values("{}")).isEqualTo(1);
    assertThat(values("[1, 2, 3]")).isEqualTo(3);
    assertThat(values("{\"a\": 1, \"b\": [{}, {\"c\": null}]}")).isEqualTo(9);
    assertThat(values("[" + "{},".repeat(1000) + "{}]")).isEqualTo(2002);
  }

  @Test
  void whatIsInTextCostsOnlyItsLength() {
    assertThat(values("\"{[,:]}\"")).isZero();
    assertThat(values("{\"a,b\":\"c:d\"}")).isEqualTo(2);
    assertThat(values("\"é{,\"")).isZero();
  }

  @Test
  void anEscapedQuoteDoesNotEndText() {
    assertThat(values("[\"\\\",,,\"]")).isEqualTo(1);
    assertThat(values("[\"\\\\\",1,2]")).isEqualTo(3);
    assertThat(values("[\"\\\\\\\",,\"]")).isEqualTo(1);
  }

  @Test
  void whatIsNotJsonHasACostToo() {
    assertThat(values("\"{{{")).isZero();
    assertThat(values("\"\\")).isZero();
    assertThat(values("{{{{")).isEqualTo(4);
  }
}

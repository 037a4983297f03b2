package dev.postrider.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class OptionsTest {

  @Test
  void fewerMessagesMakeOtherSizesSmaller() {
    assertThat(Options.parse(List.of()).scaled(100_000)).isEqualTo(100_000);
    assertThat(messages("400000").scaled(100_000)).isEqualTo(100_000);
    assertThat(messages("2000").scaled(100_000)).isEqualTo(1_000);
    assertThat(messages("1").scaled(1_000)).isEqualTo(1);
  }

  private static Options messages(String number) {
    return Options.parse(List.of("--messages", number));
  }
}

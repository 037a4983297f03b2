package dev.postrider.examples.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How the examples are started. */
class OptionsTest {
  private static Options parse(String line) {
    return Options.parse(line.split(" "), Map.of("policy", "ledger"));
  }

  @Test
  void whatIsNotGivenHasItsDefault() {
    Options options = parse("--seconds 3");
    assertThat(options.text("policy")).isEqualTo("ledger");
    assertThat(options.text("url")).isEmpty();
    assertThat(options.number("seconds", 1, 10)).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--polici x | expected one of --policy, --seconds, --url, got --polici",
        "10 | expected one of --policy, --seconds, --url, got 10",
        "--policy | expected a value after --policy, got nothing",
        "--seconds 0 | expected a number from 1 to 86400 after --seconds, got 0",
        "--seconds soon | expected a number from 1 to 86400 after --seconds, got soon"
      })
  void whatIsWrongIsSaid(String line, String message) {
    assertThatThrownBy(() -> parse(line))
        .isInstanceOf(WrongOptionException.class)
        .hasMessage(message);
  }
}

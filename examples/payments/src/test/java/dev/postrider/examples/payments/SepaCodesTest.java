package dev.postrider.examples.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The table of codes decides, and nothing that looks like one of them. */
@Tag("PO-9")
class SepaCodesTest {
  @Test
  void acceptedIsDeliveredWithTheBanksReference() {
    assertThat(SepaCodes.outcome("ACCP", "r-1")).isEqualTo(Outcome.delivered("r-1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"AC01", "AC04", "AC06", "AG01", "RR04"})
  void terminalCodes(String code) {
    assertThat(SepaCodes.outcome(code, "")).isEqualTo(Outcome.terminal(code, "the bank refused"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"AM04", "AB05", "AB08", "TM01"})
  void retryableCodes(String code) {
    assertThat(SepaCodes.outcome(code, ""))
        .isEqualTo(Outcome.retryable(code, "the bank could not"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "ZZ99", "AC01 ", "ac04", "AC0", "XAC04X", "ACCP2"})
  void whatIsNotInTheTableIsRetried(String code) {
    assertThat(SepaCodes.outcome(code, "")).isInstanceOf(Outcome.Retryable.class);
  }
}

package dev.postrider.internal.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.ErrorReport;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("CH-7")
class FingerprintTest {
  private static void same(String a, String b) {
    assertThat(Fingerprint.of(a)).as(a + " and " + b).isEqualTo(Fingerprint.of(b));
  }

  private static void different(String a, String b) {
    assertThat(Fingerprint.of(a)).as(a + " and " + b).isNotEqualTo(Fingerprint.of(b));
  }

  @Test
  void valuesDoNotMatter() {
    same("no answer within 2 s", "no answer within 30 s");
    same("order 4711 is unknown", "order 4712 is unknown");
    same(
        "no message 019a8b5e-5d0c-7c52-a3a4-0f6a8e2f1b7d",
        "no message 019a8b5e-aaaa-7c52-a3a4-0f6a8e2f1b7e");
    same("HTTP 422:\n{\"account\": \"DE-4711\"}", "HTTP 422:\n{\"account\": \"DE-4712\"}");
    same("a@b1.com bounced", "c@d2.com bounced");
    assertThat(Fingerprint.of(null)).hasSize(12).isEqualTo(Fingerprint.of(""));
  }

  @Test
  void wordsAndStatusesDo() {
    different("HTTP 422", "HTTP 500");
    different("no such account", "no such mailbox");
    different("HTTP 422:\n{\"error\": \"unknown field\"}", "HTTP 422:\n{\"error\": \"too late\"}");
    different("", "refused");
  }

  @Test
  void summariesLeaveRepliesOut() {
    String report = ErrorReport.of("HTTP 422", "too late");
    assertThat(Fingerprint.ofSummary(report))
        .isEqualTo(Fingerprint.ofSummary(ErrorReport.of("HTTP 422", "unknown field")))
        .isEqualTo("s" + Fingerprint.of("HTTP 422"))
        .matches(Fingerprint::isOne)
        .matches(Fingerprint::isSummary)
        .matches(summary -> Fingerprint.matches(summary, report));
    assertThat(Fingerprint.of(report))
        .matches(Fingerprint::isOne)
        .matches(whole -> !Fingerprint.isSummary(whole))
        .matches(whole -> Fingerprint.matches(whole, report))
        .matches(whole -> !Fingerprint.matches(whole, "HTTP 422"));
  }

  @Test
  void onlyTheBeginningOfALongTextCounts() {
    same("x".repeat(400) + "a", "x".repeat(400) + "b");
  }

  /** Receivers choose their texts, and 10,000 of them may be looked at for one page. */
  @Test
  void noTextTakesLong() {
    for (String text :
        List.of(
            "a.".repeat(200),
            "a-".repeat(200) + "'" + "1".repeat(200),
            '"' + "1".repeat(399),
            "'\"".repeat(200),
            "1'".repeat(200),
            "@.-".repeat(133))) {
      Counted counted = new Counted(text, new AtomicInteger());
      Fingerprint.withoutValues(counted);
      assertThat(counted.read.get()).as(text).isLessThan(10 * text.length());
    }
  }

  /** Counts how often a character of it is looked at. */
  private record Counted(String text, AtomicInteger read) implements CharSequence {
    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      read.incrementAndGet();
      return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return text.subSequence(start, end);
    }

    @Override
    public String toString() {
      return text;
    }
  }
}

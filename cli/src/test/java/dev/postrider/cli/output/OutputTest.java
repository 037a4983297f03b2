package dev.postrider.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OutputTest {
  @Test
  void columnsAreAlignedNumbersToTheRightAndEmptyOnesLeftOut() {
    Table table =
        new Table("topic", "pending", "oldest", "dead")
            .row("shop/orders", "1,234", null, "~7")
            .row(Colour.BAD, "hr/x", "5", "", "10");
    assertThat(table.lines(false))
        .containsExactly(
            "topic        pending  dead",
            "shop/orders    1,234    ~7",
            "hr/x               5    10");
    assertThat(table.lines(true).get(2)).startsWith("\033[31m").endsWith("\033[0m");
  }

  @Test
  void whatComesFromOutsideCannotBreakALineOrSendCodesToTheTerminal() {
    assertThat(new Table("error").row("a\nb\033[2Jc").lines(false)).contains("a b\\u001b[2Jc");
    assertThat(Words.cut("x".repeat(50), 10)).isEqualTo("xxxxxxxxx…");
  }

  @Test
  void agesHaveTwoUnits() {
    assertThat(Words.age(Duration.ZERO)).isEqualTo("0s");
    assertThat(Words.age(Duration.ofMillis(5))).isEqualTo("<1s");
    assertThat(Words.age(Duration.ofSeconds(125))).isEqualTo("2m 5s");
    assertThat(Words.age(Duration.ofMinutes(125))).isEqualTo("2h 5m");
    assertThat(Words.age(Duration.ofHours(49))).isEqualTo("2d 1h");
  }

  @Test
  void jsonIsOneLine() {
    assertThat(
            JsonText.of(
                new Fields()
                    .with("text", "a\"b\n")
                    .with("none", null)
                    .with("items", Arrays.asList(1, true, null, Duration.ofMillis(1500)))
                    .with("map", Map.of("k", Colour.BAD))
                    .map()))
        .isEqualTo("{\"text\":\"a\\\"b\\n\",\"items\":[1,true,null,1.5],\"map\":{\"k\":\"bad\"}}");
  }

  @Test
  void payloadsAreShownByTheirKind() {
    byte[] json = "{\n  \"a\": \"x y\"\n}\n".getBytes(StandardCharsets.UTF_8);
    assertThat(JsonText.of(JsonText.payload(true, json))).isEqualTo("{ \"a\": \"x y\" }");
    assertThat(JsonText.of(JsonText.payload(false, json))).startsWith("\"{\\n");
    assertThat(JsonText.of(JsonText.payload(false, new byte[] {(byte) 0xff, 0})))
        .isEqualTo("{\"base64\":\"/wA=\"}");
  }

  @Test
  void progressTellsRateAndTimeLeft() {
    Screen screen = new Screen(new Terminal(false, false, false));
    assertThat(new Progress(screen, "messages", 1000).text(250, Duration.ofSeconds(5)))
        .isEqualTo(" 25%  250 of 1,000 messages, 50/s, 15s left");
    assertThat(new Progress(screen, "messages", 0).text(250, Duration.ofSeconds(5)))
        .isEqualTo("250 messages, 50/s");
  }

  @Test
  void thereIsNoColourWhereItIsNotWanted() {
    System.setProperty("postrider.terminal", "012");
    try {
      assertThat(Terminal.detect(Map.of()).colour()).isTrue();
      assertThat(Terminal.detect(Map.of("NO_COLOR", "1")).colour()).isFalse();
      assertThat(Terminal.detect(Map.of("TERM", "dumb")).colour()).isFalse();
      System.setProperty("postrider.terminal", "02");
      assertThat(Terminal.detect(Map.of())).isEqualTo(new Terminal(true, true, false));
    } finally {
      System.clearProperty("postrider.terminal");
    }
    assertThat(List.of(Terminal.detect(Map.of("NO_COLOR", "1")).colour())).containsExactly(false);
  }
}

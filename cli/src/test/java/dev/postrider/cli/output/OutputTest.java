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
    assertThat(lines(table, Terminal.ENDLESS))
        .containsExactly(
            "topic        pending  dead",
            "shop/orders    1,234    ~7",
            "hr/x               5    10");
    assertThat(table.lay(Terminal.ENDLESS, true).lines().get(2))
        .startsWith("\033[31m")
        .endsWith("\033[0m");
  }

  private static List<String> lines(Table table, int width) {
    return table.lay(width, false).lines();
  }

  private static final String ID = "01a1e2b4-6108-7dbf-9bdd-f0dd16380f4a";
  private static final String TIME = "2026-11-16T04:55:00Z";

  private static Table dead() {
    return new Table("id", "topic", "key", "died", "tries", "error")
        .optional("died", "tries")
        .row(ID, "payments/instructions", "DE-4715", TIME, 10, "no answer ".repeat(9).strip())
        .row(Colour.BAD, ID, "shop/orders", "DE-1", TIME, 1, "refused");
  }

  @Test
  void aTableFitsTheTerminal() {
    for (int width = 80; width <= 200; width++) {
      Table.Laid laid = dead().lay(width, false);
      int most = width;
      assertThat(laid.lines())
          .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(most))
          .allSatisfy(line -> assertThat(line).matches("(" + ID + "|id ).*"));
      assertThat(laid.lines().get(0)).contains("topic", "key", "error");
    }
    Table.Laid narrow = dead().lay(80, false);
    assertThat(narrow.leftOut()).containsExactly("died");
    assertThat(narrow.lines())
        .containsExactly(
            "id                                    topic         key      tries  error",
            ID + "  payments/in…  DE-4715     10  no answer n…",
            ID + "  shop/orders   DE-1         1  refused");
    assertThat(dead().lay(120, false).leftOut()).isEmpty();
    assertThat(dead().lay(120, false).lines().get(1)).contains(TIME, "no answer n").endsWith("…");
  }

  @Test
  void nothingIsCutWhereThereIsNoTerminal() {
    Table.Laid all = dead().lay(Terminal.ENDLESS, false);
    assertThat(all.leftOut()).isEmpty();
    assertThat(all.lines().get(1)).contains("payments/instructions").endsWith("no answer");
  }

  @Test
  void whatPeopleCopyStaysWholeWhateverTheWidth() {
    Table table = new Table("key", "head").whole("key").row("a-key-of-thirty-characters-....", ID);
    assertThat(lines(table, 20).get(1)).contains("a-key-of-thirty-characters-....", ID);
  }

  @Test
  void rowsThatComeLaterAreAlignedWithThoseBefore() {
    Table first = new Table("topic", "id").headless().row("payments/instructions", "1a");
    assertThat(lines(first, 80)).containsExactly("payments/instructions  1a");
    assertThat(lines(first.next().row("shop/x", "2b"), 80))
        .containsExactly("shop/x                 2b");
  }

  @Test
  void aWideCharacterTakesTwoColumns() {
    assertThat(Words.width("订单-1e\u0301")).isEqualTo(7);
    assertThat(Words.cut("订单订单", 5)).isEqualTo("订单…");
    assertThat(lines(new Table("key", "n").row("订单", "1").row("abcd", "2"), 80))
        .contains("订单  1", "abcd  2");
  }

  @Test
  void whatComesFromOutsideCannotBreakALineOrSendCodesToTheTerminal() {
    assertThat(lines(new Table("error").row("a\nb\033[2Jc"), 80)).contains("a b\\u001b[2Jc");
    assertThat(Words.cut("x".repeat(50), 10)).isEqualTo("xxxxxxxxx…");
  }

  @Test
  void longTextsAreBrokenBetweenWords() {
    assertThat(Words.wrap("to be or not to be", 8)).containsExactly("to be or", "not to", "be");
    assertThat(Words.wrap("a-long-word b", 4)).containsExactly("a-long-word", "b");
    assertThat(Words.wrap("", 4)).containsExactly("");
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
            JsonLine.of(
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
    assertThat(JsonLine.of(JsonLine.payload(true, json))).isEqualTo("{ \"a\": \"x y\" }");
    assertThat(JsonLine.of(JsonLine.payload(false, json))).startsWith("\"{\\n");
    assertThat(JsonLine.of(JsonLine.payload(false, new byte[] {(byte) 0xff, 0})))
        .isEqualTo("{\"base64\":\"/wA=\"}");
  }

  @Test
  void progressTellsRateAndTimeLeft() {
    Screen screen = new Screen(new Terminal(false, false, false, Terminal.ENDLESS));
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
      assertThat(Terminal.detect(Map.of("COLUMNS", "132")).columns()).isEqualTo(132);
      assertThat(Terminal.detect(Map.of("NO_COLOR", "1")).colour()).isFalse();
      assertThat(Terminal.detect(Map.of("TERM", "dumb")).colour()).isFalse();
      System.setProperty("postrider.terminal", "02");
      assertThat(Terminal.detect(Map.of()))
          .isEqualTo(new Terminal(true, true, false, Terminal.ENDLESS));
    } finally {
      System.clearProperty("postrider.terminal");
    }
    assertThat(List.of(Terminal.detect(Map.of("NO_COLOR", "1")).colour())).containsExactly(false);
  }
}

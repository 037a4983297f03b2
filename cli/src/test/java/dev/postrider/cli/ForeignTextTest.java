package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.cli.Executable.Result;
import dev.postrider.cli.destination.LogDestination;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A producer, or a receiver, that tries to write on the operator's terminal or to forge fields. */
@Tag("OP-1")
class ForeignTextTest {
  /**
   * ESC and its C1 twin (clear the screen, set the title), BEL, DEL, NEL, bidi, a line of its own.
   */
  private static final String EVIL =
      "x\033[2J\033]0;owned\007\u009b2J\u0090q\u009c\177\u0085\u202e\u2066\u2028\r\nstate forged";

  @TempDir private Path folder;
  private Desk desk;
  private String id;

  @BeforeEach
  void send() throws Exception {
    desk = Desk.ready(folder);
    id =
        desk.enqueue(
            NewMessage.to("shop", "t" + EVIL)
                .key("k" + EVIL)
                .tenant("n" + EVIL)
                .aggregate("a" + EVIL, "i" + EVIL)
                .eventType("e" + EVIL)
                .dedupeKey("d" + EVIL)
                .header("h" + EVIL, EVIL)
                .payload(EVIL.getBytes(StandardCharsets.UTF_8), "text/plain" + EVIL));
    desk.carry(Outcome.terminal("c" + EVIL, EVIL), DeadPolicy.BLOCK);
  }

  @Test
  void nothingReachesTheTerminalButText() {
    for (List<String> command :
        List.of(
            List.of("messages", "show", id, "--payload"),
            List.of("messages"),
            List.of("messages", "show", id, "--payload", "--json"),
            List.of("tail", "--payload", "--count", "1"),
            List.of("tail", "--payload", "--count", "1", "--json"),
            List.of("dead"),
            List.of("dead", "--json"),
            List.of("keys"),
            List.of("status"))) {
      Result result = desk.run(command.toArray(String[]::new));
      String shown = result.ok() + result.err();
      assertThat(shown).as("%s", command).contains("\\u001b[2J", "\\u009b2J", "\\u202e");
      assertThat(shown.codePoints().filter(c -> c != '\n' && unsafe(c)).toArray())
          .as("%s", command)
          .isEmpty();
      // Only a payload may have lines of its own.
      assertThat(shown.lines().filter(line -> line.startsWith("state forged")).count())
          .as("%s", command)
          .isEqualTo(command.equals(List.of("messages", "show", id, "--payload")) ? 1 : 0);
    }
  }

  private static boolean unsafe(int c) {
    return Character.isISOControl(c)
        || Character.getType(c) == Character.FORMAT
        || Character.getType(c) == Character.LINE_SEPARATOR;
  }

  /** What reads a log line by line takes each line for one message. */
  @Test
  void theLogDestinationWritesALineForEachMessageAndNoOther() throws Exception {
    String forged = "null,\"id\":\"forged\"}\n{\"id\":\"forged\"";
    List<String> types = List.of("text/plain" + EVIL, "application/json-seq", "x/y;+json");
    List<String> ids = new ArrayList<>();
    for (String type : types) {
      ids.add(
          desk.enqueue(
              NewMessage.to("shop", "log" + EVIL)
                  .tenant("n" + EVIL)
                  .aggregate("a" + EVIL, "i" + EVIL)
                  .eventType("e" + EVIL)
                  .header("h" + EVIL, EVIL)
                  .payload((EVIL + forged).getBytes(StandardCharsets.UTF_8), type)));
    }
    ids.add(desk.enqueue(NewMessage.to("shop", "log").json("{\"a\":\n\r\n1}")));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    desk.carry(new LogDestination(out), DeadPolicy.SKIP);
    List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
    assertThat(lines).hasSize(ids.size());
    for (String line : lines) {
      assertThat(line.codePoints().filter(ForeignTextTest::unsafe).toArray()).isEmpty();
      assertThat(line).doesNotContain("\"id\":\"forged\"");
      assertThat(Executable.parsed(line))
          .asInstanceOf(InstanceOfAssertFactories.MAP)
          .extractingByKey("id")
          .isIn(ids);
    }
  }

  @Test
  void jsonKeepsItsMeaning() {
    Map<String, Object> shown = desk.run("messages", "show", id, "--payload", "--json").json();
    assertThat(shown)
        .containsEntry("payload", EVIL)
        .containsEntry("key", "k" + EVIL)
        .containsEntry("last_error", EVIL);
  }

  @Test
  void aPayloadCannotWriteFieldsBesideIt() throws Exception {
    for (String type : List.of("application/json-seq", "text/x+jsonl", "x/y;+json")) {
      String forged =
          desk.enqueue(
              NewMessage.to("shop", "orders")
                  .tenant("own")
                  .payload("null,\"id\":\"forged\"".getBytes(StandardCharsets.UTF_8), type));
      assertThat(desk.run("messages", "show", forged, "--payload", "--json").json())
          .containsEntry("id", forged)
          .containsEntry("payload", "null,\"id\":\"forged\"");
    }
    desk.carry(Outcome.delivered(), DeadPolicy.SKIP);
    assertThat(desk.run("tail", "--payload", "--count", "4", "--json").ok())
        .doesNotContain("\"id\":\"forged\"");
  }
}
